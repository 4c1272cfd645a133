//! The state that detectors look at: lanes (ordered steps of one agent in one run) and ledgers
//! (order-free facts of one conversation). Bounded; no clock; no judgement.

mod asks;
mod call;
mod lane;
mod ledger;
mod meter;
mod names;
mod trail;
mod view;

pub use asks::{Asks, Slip, Wanted};
pub use call::{Call, More, Order, Reply};
pub use lane::{Definitions, Lane, Place};
pub use ledger::{Check, Contact, Edit, FACTS_MAX, Ledger, Target};
pub use meter::{Amount, Cost, Limit, Meter, Spent, Turns};
pub use names::{NameId, Names};
pub use trail::Trail;
pub use view::{At, RunFacts, RunOutcome, View};
