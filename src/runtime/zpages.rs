//! The pages for people, with what they read from.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::TcpListener;

use super::clock;
use super::engine_task::Handle;
use super::net;
use crate::config;
use crate::control::notebook::Notebook;
use crate::control::pages::Site;
use crate::control::zpages::{Facts, Figures, Zpages};
use crate::engine::Engine;

/// The site for what `listener` takes.
pub(super) fn site(
    settings: &config::Settings,
    listener: &TcpListener,
    notebook: Arc<Mutex<Notebook>>,
    engine: &Handle<Engine>,
    addresses: &[(&'static str, SocketAddr)],
) -> std::io::Result<Site> {
    let own = listener.local_addr()?;
    let on = engine.snapshot().types;
    let mut rules = settings.rules.clone();
    for rule in &mut rules {
        rule.on = on.contains(&rule.anomaly);
    }
    let mut listeners: Vec<(String, String)> = addresses
        .iter()
        .map(|(protocol, address)| (format!("OTLP over {protocol}"), address.to_string()))
        .collect();
    listeners.push(("these pages".to_owned(), own.to_string()));
    let facts = Facts {
        started: clock::now(),
        pipelines: settings.pipelines.iter().map(ToString::to_string).collect(),
        listeners,
        rules,
        local: net::is_local(own),
    };
    let engine = engine.clone();
    let annotate = settings.engine.annotate.clone();
    Ok(Site::Zpages(Arc::new(Zpages {
        notebook,
        facts,
        ask: Box::new(move || {
            let snapshot = engine.snapshot();
            Figures {
                counters: snapshot.counters,
                status: snapshot.status,
            }
        }),
        link: Box::new(move |trace, span| annotate.link(trace, span)),
    })))
}
