//! From findings to what people hear: episodes, family rank, raising, cooldown (DESIGN 6.2). Pure: time
//! comes with the steps.

mod admit;
mod desk;
mod episode;
mod ignore;
mod settings;

pub use desk::{Admitted, Desk, Moment, Place, Standing, Steps};
pub use episode::Episode;
pub use ignore::{Ignore, ignore_line};
pub use settings::Settings;
