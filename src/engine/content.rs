//! Who sends spans without their content: said once for each service, loudly.
//!
//! Invariant: a kind of content is missing while it never came, or hardly ever. Each service is told of once, few a
//! minute, and no more are remembered than [`SERVICES`].

use std::time::Duration;

use foldhash::quality::RandomState;
use hashbrown::HashMap;

use crate::model::{Name, Service, Timestamp};
use crate::steps::{Content, Coverage, Switch};

/// Services remembered; further ones are not looked at.
const SERVICES: usize = 256;
/// Steps of a service before it is told of: a first call may have had no arguments.
const STEPS: u64 = 8;
/// Spans of a service without any step among them before it is told of.
const SPANS: u64 = 100;
/// Content that came less often than once in so many times that it did not, never came.
const HARDLY: u64 = 10;
/// Scopes named of one service.
const SCOPES: usize = 4;
/// Most services told of within [`WINDOW`]; the others follow with later spans of theirs.
const AT_ONCE: u32 = 10;
/// See [`AT_ONCE`].
const WINDOW: Duration = Duration::from_secs(60);

/// Something that a service never sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The service.
    pub service: Service,
    /// Its steps so far; with none of them, no span of it is known as a step.
    pub steps: u64,
    /// Spans of it that are no steps.
    pub others: u64,
    /// What never came.
    pub missing: Vec<Content>,
    /// Frameworks it uses, and what to set in them.
    pub settings: Vec<(&'static str, Vec<&'static str>)>,
    /// Scopes of spans that are no steps, while there are no steps; the first few.
    pub scopes: Vec<Name>,
}

/// Where log records bring content, it may come this much later than the spans.
const BEHIND: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
struct State {
    /// When the first of it came.
    since: Timestamp,
    steps: u64,
    others: u64,
    has: [u64; 4],
    lacks: [u64; 4],
    /// What each scope that lacked something is told by.
    switches: Vec<&'static Switch>,
    scopes: Vec<Name>,
    told: bool,
}

/// What all services send.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Log records bring content.
    records: bool,
    services: HashMap<Service, State, RandomState>,
    told: u32,
    window: Timestamp,
}

impl Contents {
    /// Before anything has come. `records`: log records may bring content.
    pub(super) fn new(records: bool) -> Self {
        Self {
            records,
            ..Self::default()
        }
    }

    /// Takes the counts of a body in; says what is due to be told.
    pub(super) fn meet(&mut self, counts: &[Coverage], now: Timestamp, out: &mut Vec<Notice>) {
        for of in counts {
            if !self.services.contains_key(&of.service) && self.services.len() >= SERVICES {
                continue;
            }
            let state = self.services.entry(of.service.clone()).or_default();
            if state.steps == 0 {
                state.since = now;
            }
            state.add(of);
            if self.records && now.since(state.since) < BEHIND {
                continue;
            }
            if state.told || !(state.steps >= STEPS || state.others >= SPANS) {
                continue;
            }
            if now.since(self.window) >= WINDOW {
                (self.window, self.told) = (now, 0);
            }
            if self.told < AT_ONCE
                && let Some(notice) = state.notice(&of.service)
            {
                state.told = true;
                self.told += 1;
                out.push(notice);
            }
        }
    }

    /// The end of everything: tells of those that were too short to be told of.
    pub(super) fn finish(&mut self, out: &mut Vec<Notice>) {
        let mut rest: Vec<Notice> = self
            .services
            .iter_mut()
            .filter(|(_, state)| !state.told)
            .filter_map(|(service, state)| {
                state.told = true;
                state.notice(service)
            })
            .collect();
        rest.sort_by(|a, b| {
            let key = |one: &Notice| (one.service.namespace.clone(), one.service.name.clone());
            key(a).cmp(&key(b))
        });
        out.append(&mut rest);
    }

    /// Services and what they never sent, sorted.
    pub(super) fn missing(&self) -> Vec<(Service, Content)> {
        let mut all: Vec<(Service, Content)> = self
            .services
            .iter()
            .filter(|(_, state)| state.steps >= STEPS)
            .flat_map(|(service, state)| {
                let missing = state.missing();
                missing
                    .into_iter()
                    .map(|content| (service.clone(), content))
            })
            .collect();
        all.sort_by(|(a, one), (b, other)| {
            (&a.namespace, &a.name, one).cmp(&(&b.namespace, &b.name, other))
        });
        all
    }
}

impl State {
    fn add(&mut self, of: &Coverage) {
        self.steps += u64::from(of.steps);
        self.others += u64::from(of.others);
        for (sum, count) in self.has.iter_mut().zip(of.has) {
            *sum += u64::from(count);
        }
        for (sum, count) in self.lacks.iter_mut().zip(of.lacks) {
            *sum += u64::from(count);
        }
        if let Some(switch) = of.switch.filter(|_| of.lacks != [0; 4])
            && !self.switches.contains(&switch)
            && self.switches.len() < SCOPES
        {
            self.switches.push(switch);
        }
        if self.steps == 0 && !self.scopes.contains(&of.scope) && self.scopes.len() < SCOPES {
            self.scopes.push(of.scope.clone());
        }
    }

    fn missing(&self) -> Vec<Content> {
        let never = |content: &Content| {
            let of = |counts: &[u64; 4]| counts.get(*content as usize).copied().unwrap_or(0);
            of(&self.has).saturating_mul(HARDLY) < of(&self.lacks)
        };
        Content::ALL.into_iter().filter(never).collect()
    }

    fn notice(&self, service: &Service) -> Option<Notice> {
        let missing = self.missing();
        if missing.is_empty() && self.steps > 0 {
            return None;
        }
        let settings = self.switches.iter().map(|switch| {
            let mut all: Vec<&'static str> = Vec::new();
            for setting in missing.iter().filter_map(|content| content.switch(switch)) {
                if !all.contains(&setting) {
                    all.push(setting);
                }
            }
            (switch.framework, all)
        });
        Some(Notice {
            service: service.clone(),
            steps: self.steps,
            others: self.others,
            settings: settings.collect(),
            missing,
            scopes: if self.steps == 0 {
                self.scopes.clone()
            } else {
                Vec::new()
            },
        })
    }
}

impl Notice {
    /// What is missing, in words: `arguments, results`.
    pub fn missing_words(&self) -> String {
        let names: Vec<&str> = self.missing.iter().map(|content| content.name()).collect();
        names.join(", ")
    }

    /// What to do about it, in words.
    pub fn advice(&self) -> String {
        if self.steps == 0 {
            let scopes: Vec<&str> = self.scopes.iter().map(|scope| &**scope).collect();
            let of = match scopes.join(", ") {
                none if none.is_empty() => String::new(),
                scopes => format!(" (scope {scopes})"),
            };
            return format!(
                "no convention knows them{of}; if they are an agent's, say how to read them in processors.anomaly.dialects"
            );
        }
        let each = self.settings.iter().map(|(framework, settings)| {
            if settings.is_empty() {
                format!("{framework} has no switch for them")
            } else {
                format!("{framework}: {}", settings.join("; "))
            }
        });
        each.collect::<Vec<_>>().join(" | ")
    }
}
