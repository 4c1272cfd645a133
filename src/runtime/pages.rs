//! Health, metrics and pages for people: opened before anything runs, then served until the very end.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::assemble::{Listening, StartError, listen};
use super::engine_task::Handle;
use super::{clock, net, serve};
use crate::config;
use crate::control::health::Health;
use crate::control::metrics::{Catalogue, Page};
use crate::control::notebook::Notebook;
use crate::control::pages::Site;
use crate::control::zpages::{Facts, Figures, Zpages};
use crate::engine::Engine;
use crate::security::Protection;

/// The open doors.
pub(super) struct PageDoors {
    health: Option<TcpListener>,
    metrics: Vec<TcpListener>,
    zpages: Option<(TcpListener, Arc<Mutex<Notebook>>)>,
}

impl PageDoors {
    /// Binds every address that `settings` name.
    pub(super) async fn open(settings: &config::Settings) -> Result<Self, StartError> {
        let health = match &settings.health_check {
            Some(own) => Some(open("health_check", &own.endpoint).await?),
            None => None,
        };
        let mut metrics = Vec::new();
        for page in settings.telemetry.metrics.pages() {
            metrics.push(open("metrics", &page).await?);
        }
        let zpages = match &settings.zpages {
            Some(own) => Some((open("zpages", &own.endpoint).await?, Arc::default())),
            None => None,
        };
        Ok(Self {
            health,
            metrics,
            zpages,
        })
    }

    /// What the engine writes down for the pages; `None` where none are served.
    pub(super) fn notebook(&self) -> Option<Arc<Mutex<Notebook>>> {
        self.zpages.as_ref().map(|(_, notebook)| notebook.clone())
    }

    /// Serves them all until what is returned is dropped.
    pub(super) fn serve(
        self,
        settings: &config::Settings,
        health: &Arc<Health>,
        engine: &Handle<Engine>,
        addresses: &[(&'static str, SocketAddr)],
        catalogue: Arc<Catalogue>,
    ) -> Result<JoinSet<()>, StartError> {
        let mut pages = JoinSet::new();
        if let (Some(listener), Some(own)) = (self.health, &settings.health_check) {
            let (health, path) = (health.clone(), own.path.clone());
            pages.spawn(serve::site(listener, Site::Health { health, path }));
        }
        let page = Arc::new(Page::new(catalogue));
        for listener in self.metrics {
            pages.spawn(serve::site(listener, Site::Metrics(page.clone())));
        }
        if let Some((listener, notebook)) = self.zpages {
            let facts = facts(settings, listener.local_addr()?, engine, addresses);
            let site = Site::Zpages(Arc::new(zpages(facts, notebook, engine)));
            pages.spawn(serve::site(listener, site));
        }
        Ok(pages)
    }
}

async fn open(what: &'static str, endpoint: &str) -> Result<TcpListener, StartError> {
    let (id, key) = match what {
        "metrics" => ("prometheus", "service.telemetry.metrics.address".to_owned()),
        extension => (extension, format!("extensions.{extension}.endpoint")),
    };
    let listening = Listening {
        what,
        id,
        key: &key,
        endpoint,
        protection: &Protection::of(None, None),
    };
    listen(listening).await
}

fn facts(
    settings: &config::Settings,
    own: SocketAddr,
    engine: &Handle<Engine>,
    addresses: &[(&'static str, SocketAddr)],
) -> Facts {
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
    let pipelines = settings.pipelines.iter();
    Facts {
        started: clock::now(),
        pipelines: pipelines.map(ToString::to_string).collect(),
        listeners,
        rules,
        local: net::is_local(own),
    }
}

fn zpages(facts: Facts, notebook: Arc<Mutex<Notebook>>, engine: &Handle<Engine>) -> Zpages {
    let engine = engine.clone();
    Zpages {
        notebook,
        facts,
        ask: Box::new(move || {
            let snapshot = engine.snapshot();
            Figures {
                counters: snapshot.counters,
                status: snapshot.status,
            }
        }),
    }
}
