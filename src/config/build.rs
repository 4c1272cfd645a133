//! The merged tree -> [`Settings`]: reads every component, resolves the pipelines, checks one against the
//! other.

use std::collections::BTreeMap;

use crate::control;
use crate::exporters;
use crate::model::{Signal, Timestamp};
use crate::receivers;
use crate::security::Protection;

use super::anomaly::{self, Anomaly};
use super::components::{Section, defined, kind_of};
use super::endpoints::{Exposed, Listeners};
use super::extensions::{self, Extensions};
use super::pipelines::{self, Typed};
use super::problems::Problems;
use super::report::Problem;
use super::routes;
use super::rules;
use super::secrets::Secrecy;
use super::security;
use super::sending;
use super::settings::{Exporter, Receiver, Settings, Takes};
use super::suggest;
use super::tree::{Entry, Node};

/// What the configuration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To run: receivers, exporters and a pipeline must be there.
    Run,
    /// To judge recorded spans: only `processors.anomaly` counts, and even that may be absent.
    Replay,
}

/// Builds the settings; what is wrong goes to `problems`, and then the result is not to be used.
pub(super) fn build(
    root: &Node,
    purpose: Purpose,
    now: Timestamp,
    problems: &mut Problems,
) -> Settings {
    let mut builder = Builder {
        root,
        purpose,
        now,
        problems,
        listeners: Listeners::default(),
    };
    builder.top();
    builder.all()
}

struct Builder<'a, 'p> {
    root: &'a Node,
    purpose: Purpose,
    now: Timestamp,
    problems: &'p mut Problems,
    listeners: Listeners,
}

/// Everything defined in one section that could be read, by id.
type Defined<T> = BTreeMap<String, T>;

impl<'a> Builder<'a, '_> {
    fn top(&mut self) {
        if let Some(connectors) = self.root.entry("connectors") {
            self.problems.push(
                Problem::error(connectors.key_place, "there are no connectors here")
                    .help("keep them in a collector in front of or behind this one"),
            );
            self.problems.drop(connectors.key_place);
        }
        let keys = [
            "receivers",
            "processors",
            "exporters",
            "extensions",
            "service",
        ];
        self.problems.only_keys(self.root, &keys);
    }

    fn all(&mut self) -> Settings {
        let receivers = self.receivers();
        let processors = self.processors();
        let exporters = self.exporters();
        let service = self.root.entry("service");
        let Extensions {
            health_check,
            zpages,
            authenticators,
        } = self.extensions(service);
        security::references(
            self.root,
            &receivers,
            &exporters,
            &authenticators,
            self.problems,
        );
        let (intake, telemetry, shutdown) = self.service(service);
        let typed = self.pipelines(service);
        let sending = |signal| -> Vec<Exporter> {
            let pipelines = || typed.iter().filter(|pipeline| pipeline.signal == signal);
            let has = |pipeline: &Typed, id: &str| pipeline.exporters.iter().any(|r| r.id == id);
            let used = exporters
                .iter()
                .filter(|(id, _)| pipelines().any(|pipeline| has(pipeline, id)));
            used.map(|(id, settings)| Exporter {
                id: id.clone(),
                settings: settings.clone(),
                relays: signal != Signal::Traces
                    && pipelines().any(|p| has(p, id) && p.sources().next().is_some()),
                findings: pipelines().any(|p| has(p, id) && p.takes_findings()),
            })
            .collect()
        };
        let Anomaly {
            steps,
            engine,
            written,
        } = self.anomaly(&typed, processors);
        let rules = rules::in_force(&engine, &written);
        Settings {
            receivers: receivers
                .into_iter()
                .map(|(id, settings)| Receiver {
                    takes: routes::takes(&typed, &id),
                    id,
                    settings,
                })
                .filter(|receiver| receiver.takes != Takes::default())
                .collect(),
            intake,
            steps,
            engine,
            exporters: sending(Signal::Traces),
            log_exporters: sending(Signal::Logs),
            metric_exporters: sending(Signal::Metrics),
            health_check,
            zpages,
            rules,
            authenticators,
            telemetry,
            shutdown,
            pipelines: typed.iter().map(Typed::names).collect(),
        }
    }

    fn receivers(&mut self) -> Defined<receivers::Settings> {
        let mut read = Defined::new();
        for entry in defined(self.root, Section::Receivers, self.problems) {
            let Some(settings) = self.problems.read::<receivers::Settings>(entry) else {
                continue;
            };
            self.protocols(entry, &settings);
            read.insert(entry.key.clone(), settings);
        }
        read
    }

    fn protocols(&mut self, entry: &Entry, settings: &receivers::Settings) {
        let protocols = &settings.protocols;
        if protocols.grpc.is_none() && protocols.http.is_none() {
            self.problems.push(
                Problem::error(
                    entry.key_place,
                    format!("`{}` serves no protocol", entry.key),
                )
                .help("write protocols: {grpc: {}, http: {}}"),
            );
        }
        for (path, what) in settings.faults() {
            let at = entry.value.at(&path).map_or(entry.key_place, Entry::shown);
            let key = path.last().copied().unwrap_or_default();
            self.problems
                .push(Problem::error(at, format!("`{key}` is {what}")));
        }
        let grpc = protocols.grpc.as_ref();
        let grpc = grpc.map(|grpc| ("grpc", &grpc.endpoint, &grpc.tls, &grpc.auth));
        let http = protocols.http.as_ref();
        let http = http.map(|http| ("http", &http.endpoint, &http.tls, &http.auth));
        for (protocol, endpoint, tls, auth) in grpc.into_iter().chain(http) {
            let written = entry.value.at(&["protocols", protocol, "endpoint"]);
            let place = written.map(Entry::shown);
            let whose = format!("receivers.{}.protocols.{protocol}", entry.key);
            let protection = Protection::of(tls.as_ref(), auth.as_ref());
            self.listeners.add(
                endpoint,
                place,
                &whose,
                &Exposed::Receiver(protection),
                self.problems,
            );
            if let (Some(http), "http") = (&protocols.http, protocol) {
                let path = ["protocols", protocol, "cors"];
                security::faults(entry, &path, http.cors.faults(), self.problems);
            }
            if let Some(tls) = tls {
                let path = ["protocols", protocol, "tls"];
                security::faults(entry, &path, tls.faults(), self.problems);
            }
        }
    }

    fn processors(&mut self) -> Defined<Anomaly> {
        let mut read = Defined::new();
        for entry in defined(self.root, Section::Processors, self.problems) {
            if let Some(settings) = anomaly::read(entry, self.now, self.problems) {
                read.insert(entry.key.clone(), settings);
            }
        }
        read
    }

    fn exporters(&mut self) -> Defined<exporters::Settings> {
        let mut read = Defined::new();
        for entry in defined(self.root, Section::Exporters, self.problems) {
            let kind = kind_of(&entry.key);
            let settings = self
                .problems
                .read_with(&entry.value, Secrecy::Open, |reader| {
                    exporters::Settings::read(kind, reader)
                        .unwrap_or_else(|| Err(serde::de::Error::custom("is no type of exporter")))
                });
            if let Some(settings) = settings {
                let service = self.root.entry("service");
                let signals = pipelines::signals_of(service, &entry.key);
                sending::check(entry, &settings, &signals, &self.listeners, self.problems);
                read.insert(entry.key.clone(), settings);
            }
        }
        read
    }

    fn extensions(&mut self, service: Option<&Entry>) -> Extensions {
        let read = extensions::read(self.root, &mut self.listeners, self.problems);
        let list = service.and_then(|service| service.value.entry("extensions"));
        let used = pipelines::references(list, self.problems);
        self.check_references(Section::Extensions, &used);
        self.warn_unused(Section::Extensions, |id| used.iter().any(|r| r.id == id));
        extensions::started(read, &used, self.problems)
    }

    fn service(
        &mut self,
        service: Option<&Entry>,
    ) -> (
        receivers::IntakeSettings,
        control::Telemetry,
        control::Shutdown,
    ) {
        let Some(service) = service else {
            return Default::default();
        };
        self.problems.only_keys(
            &service.value,
            &["extensions", "pipelines", "telemetry", "shutdown", "intake"],
        );
        let telemetry = self.part::<control::Telemetry>(service, "telemetry");
        let written = service.value.at(&["telemetry", "metrics", "address"]);
        for page in telemetry.metrics.pages() {
            let place = written.or(service.value.at(&["telemetry", "metrics", "readers"]));
            let place = place.map(Entry::shown);
            let whose = "service.telemetry.metrics";
            self.listeners
                .add(&page, place, whose, &Exposed::Page, self.problems);
        }
        (
            self.part(service, "intake"),
            telemetry,
            self.part(service, "shutdown"),
        )
    }

    fn part<T: serde::de::DeserializeOwned + Default>(&mut self, of: &Entry, key: &str) -> T {
        let entry = of.value.entry(key);
        entry
            .and_then(|entry| self.problems.read(entry))
            .unwrap_or_default()
    }

    /// Reads the pipelines; reports references to what is not defined, and what is defined and used
    /// nowhere.
    fn pipelines(&mut self, service: Option<&Entry>) -> Vec<Typed> {
        let before = self.problems.errors();
        let typed = pipelines::read(service, self.purpose, self.problems);
        for pipeline in &typed {
            if pipeline.signal == Signal::Traces {
                self.check_references(Section::Receivers, &pipeline.receivers);
            }
            self.check_references(Section::Processors, &pipeline.processors);
            self.check_references(Section::Exporters, &pipeline.exporters);
        }
        let receivers: Vec<&str> = defined_quietly(self.root, Section::Receivers)
            .iter()
            .map(|entry| entry.key.as_str())
            .collect();
        pipelines::check(&typed, &receivers, self.purpose, self.problems);
        // Where a pipeline is wrong, what it does not use says nothing.
        if self.problems.errors() > before || typed.is_empty() {
            return typed;
        }
        let picks: [(Section, pipelines::Pick); 3] = [
            (Section::Receivers, |p| &p.receivers),
            (Section::Processors, |p| &p.processors),
            (Section::Exporters, |p| &p.exporters),
        ];
        for (section, pick) in picks {
            self.warn_unused(section, |id| {
                typed.iter().any(|p| pick(p).iter().any(|r| r.id == id))
            });
        }
        typed
    }

    fn check_references(&mut self, section: Section, references: &[pipelines::Reference]) {
        let ids: Vec<&str> = self
            .root
            .get(section.key())
            .map_or(&[][..], Node::entries)
            .iter()
            .map(|entry| entry.key.as_str())
            .collect();
        for reference in references {
            // `anomaly` has a default for everything, so it need not be defined to be used.
            let implied = section == Section::Processors && reference.id == "anomaly";
            if ids.contains(&reference.id.as_str()) || implied {
                continue;
            }
            let message = format!("{} `{}` is not defined", section.one(), reference.id);
            let near = suggest::nearest(&reference.id, &ids);
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None if ids.is_empty() => format!("define it under {}:", section.key()),
                None => format!("defined under {}: {}", section.key(), ids.join(", ")),
            };
            self.problems
                .push(Problem::error(reference.place, message).help(help));
        }
    }

    fn warn_unused(&mut self, section: Section, used: impl Fn(&str) -> bool) {
        for entry in defined_quietly(self.root, section) {
            if !used(&entry.key) && !self.problems.is_dropped(entry.key_place) {
                let place = match section {
                    Section::Extensions => "service.extensions",
                    _ => "any pipeline",
                };
                let message = format!(
                    "{} `{}` is not in {place}: it is not started",
                    section.one(),
                    entry.key
                );
                self.problems
                    .push(Problem::warning(entry.key_place, message));
            }
        }
    }

    /// The one `anomaly` in force.
    fn anomaly(&mut self, typed: &[Typed], mut read: Defined<Anomaly>) -> Anomaly {
        let named = typed
            .iter()
            .flat_map(|pipeline| &pipeline.processors)
            .find(|reference| kind_of(&reference.id) == "anomaly");
        let (id, mut anomaly) = match named {
            Some(reference) => (
                reference.id.clone(),
                read.remove(&reference.id).unwrap_or_default(),
            ),
            // Without a pipeline (replay) the only one there is.
            None => match read.pop_first() {
                Some((id, settings)) if read.is_empty() => (id, settings),
                _ => Default::default(),
            },
        };
        anomaly.engine.logs = typed.iter().any(Typed::takes_findings);
        anomaly.engine.sessions.records = typed.iter().any(Typed::reads_logs);
        let (root, purpose) = (self.root, self.purpose);
        routes::findings_arrive(root, purpose, &id, &anomaly.engine, self.problems);
        anomaly
    }
}

fn defined_quietly(root: &Node, section: Section) -> &[Entry] {
    root.get(section.key()).map_or(&[], Node::entries)
}
