//! What the limits of the receivers did.

use std::sync::Arc;

use super::Sources;
use crate::control::metrics::{Catalogue, Kind, Value};
use crate::receivers::{Closed, Counters, Limited};

pub(super) fn add(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    let of = sources.clone();
    catalogue.add(
        Kind::Gauge,
        "sentinel_receiver_open_connections",
        "Connections that are open",
        move |observe| {
            for one in &of.receivers {
                let labels = [("receiver", one.id.as_str()), ("transport", one.transport)];
                let open = Counters::read(&one.counters.open_connections);
                observe(&labels, Value::Count(open));
            }
        },
    );
    let of = sources.clone();
    catalogue.add(
        Kind::Counter,
        "sentinel_receiver_closed_connections",
        "Connections refused or ended by a limit, each under one reason",
        move |observe| {
            for one in &of.receivers {
                for why in Closed::ALL {
                    let labels = [
                        ("receiver", one.id.as_str()),
                        ("transport", one.transport),
                        ("reason", why.name()),
                    ];
                    observe(&labels, Value::Count(one.counters.closed(why)));
                }
            }
        },
    );
    let of = sources.clone();
    catalogue.add(
        Kind::Counter,
        "sentinel_receiver_limited_requests",
        "Requests turned away by a limit; they are among those refused or failed",
        move |observe| {
            for one in &of.receivers {
                for by in Limited::ALL {
                    let labels = [
                        ("receiver", one.id.as_str()),
                        ("transport", one.transport),
                        ("limit", by.name()),
                    ];
                    observe(&labels, Value::Count(one.counters.limited(by)));
                }
            }
        },
    );
    let of = sources.clone();
    catalogue.add(
        Kind::Gauge,
        "sentinel_intake_arriving_bytes",
        "Bytes of bodies that are arriving or being read",
        move |observe| observe(&[], Value::Count(of.intake.arriving_bytes() as u64)),
    );
}
