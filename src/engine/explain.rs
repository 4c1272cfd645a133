//! Why a detector fired at a step, or did not: asked beforehand for one span, answered as it is judged.
//!
//! Invariant: asking changes nothing; a step that nobody asks about costs one comparison.

use crate::detectors::{self, Rules, Tables};
use crate::lanes::View;
use crate::model::{AnomalyType, Finding, Lack, Name, SpanId, Timestamp, TraceId};
use crate::policies::Standing;
use crate::sessions::{Pending, Run};

use super::judge::place_of;
use super::opinion::{Case, Opinion};
use super::{Engine, Settings, Why};

/// Spans that are asked about: all whose id begins with these hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    bits: u64,
    mask: u64,
}

impl Watch {
    /// From 1 to 16 hex digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if !(1..=16).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let shift = 64 - 4 * u32::try_from(text.len()).ok()?;
        Some(Self {
            bits: u64::from_str_radix(text, 16).ok()? << shift,
            mask: u64::MAX << shift,
        })
    }

    /// Whether a span is one of them.
    pub fn matches(self, span: SpanId) -> bool {
        u64::from_be_bytes(*span.as_bytes()) & self.mask == self.bits
    }
}

/// What all detectors say of one step.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// Its 0-based index in the run, by arrival.
    pub step: u32,
    /// Id of its session.
    pub session: Name,
    /// The agent of its lane, if known.
    pub agent: Option<Name>,
    /// How the step looks to the detectors.
    pub looks: Vec<String>,
    /// All 18 types, in the order in which they report.
    pub accounts: Vec<Account>,
}

/// What one detector says.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its type.
    pub anomaly: AnomalyType,
    /// The verdict.
    pub verdict: Verdict,
    /// What it saw, and why it came to this.
    pub because: Vec<String>,
}

/// A detector's verdict, and what policy made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Switched off, or without the limit that it needs.
    Off,
    /// Nothing to say.
    Quiet,
    /// It could not tell.
    NotAssessed(Vec<Lack>),
    /// It fired, and that is reported.
    Reported,
    /// It fired, and that is not reported: because of this.
    Kept(String),
}

/// All that a verdict is made from.
#[derive(Clone, Copy)]
struct Asked<'a> {
    run: &'a Run,
    pending: &'a Pending,
    case: &'a Case<'a>,
    opinion: &'a Opinion,
    now: Timestamp,
}

impl Engine {
    /// Has the steps of these spans explained when they are judged: see `Output::explanations`.
    pub fn explain_spans(&mut self, spans: Watch) {
        self.watch = Some(spans);
    }

    pub(super) fn is_watched(&self, span: SpanId) -> bool {
        self.watch.is_some_and(|watch| watch.matches(span))
    }

    pub(super) fn explain(
        &self,
        run: &Run,
        pending: &Pending,
        case: &Case<'_>,
        opinion: &Opinion,
        now: Timestamp,
    ) -> Explanation {
        let table = self.tables.get(opinion.choice);
        let enabled: Vec<AnomalyType> = table.iter().flat_map(|table| table.types()).collect();
        let Settings {
            detectors: own,
            overrides,
            ..
        } = &self.settings;
        let settings = Tables::settings_of(opinion.choice, own, overrides);
        let accounts = AnomalyType::ALL.into_iter().map(|anomaly| {
            let rules = self.settings.rules;
            let mut because = Vec::new();
            let verdict = if enabled.contains(&anomaly) {
                because = detectors::explain(settings, rules, anomaly, &case.view);
                let asked = Asked {
                    run,
                    pending,
                    case,
                    opinion,
                    now,
                };
                self.verdict(&asked, anomaly, &mut because)
            } else {
                Verdict::Off
            };
            Account {
                anomaly,
                verdict,
                because,
            }
        });
        Explanation {
            trace: case.moment.member.trace,
            span: pending.span,
            step: case.moment.member.step,
            session: run.session.clone(),
            agent: run
                .lane(pending.lane)
                .and_then(|lane| lane.agent())
                .cloned(),
            looks: looks(&case.view),
            accounts: accounts.collect(),
        }
    }

    fn verdict(
        &self,
        asked: &Asked<'_>,
        anomaly: AnomalyType,
        because: &mut Vec<String>,
    ) -> Verdict {
        let opinion = asked.opinion;
        let lacks = opinion.lacks.iter().filter(|(other, _)| *other == anomaly);
        let lacks: Vec<Lack> = lacks.map(|(_, lack)| *lack).collect();
        let Some(finding) = opinion.findings.iter().find(|f| f.anomaly == anomaly) else {
            return match lacks.is_empty() {
                true => Verdict::Quiet,
                false => Verdict::NotAssessed(lacks),
            };
        };
        because.insert(0, finding.message.clone());
        match self.kept(asked, finding) {
            Some(why) => Verdict::Kept(why),
            None => Verdict::Reported,
        }
    }

    /// Why policy does not let a finding out; `None` when it does.
    fn kept(&self, asked: &Asked<'_>, finding: &Finding) -> Option<String> {
        let Asked {
            run,
            pending,
            case,
            opinion,
            now,
        } = *asked;
        let choice = opinion.choice;
        let place_of = |anomaly| {
            let budget = self.tables.budget_of(choice, anomaly);
            place_of(anomaly, budget, run, pending.lane)
        };
        let place = place_of(finding.anomaly);
        let there: Vec<Finding> = opinion
            .findings
            .iter()
            .filter(|other| place_of(other.anomaly) == place)
            .cloned()
            .collect();
        if self.settings.rules == Rules::Aware
            && let Some(rank) = finding.anomaly.family_rank()
            && let Some(better) = there
                .iter()
                .filter(|f| f.anomaly.family_rank() > Some(rank))
                .max_by_key(|f| f.anomaly.family_rank())
        {
            let better = better.anomaly;
            return Some(format!("{better} is more specific and speaks for it"));
        }
        let admitted = self.desk.would_admit(place, there, case.moment);
        let ours = admitted.into_iter().find(|one| {
            one.finding.anomaly == finding.anomaly || finding.anomaly.family_rank().is_some()
        });
        if let Some(admitted) = ours {
            let report = self.report_of(run, pending, choice, admitted, case.moment);
            return self.hushed(choice, &report, now).map(|why| match why {
                Why::Trial => "its rule is on trial: it is counted, and told on no span".to_owned(),
                Why::Ignored { entry, reason } => {
                    let reason = reason.map(|reason| format!(": {reason}"));
                    let reason = reason.unwrap_or_default();
                    format!("entry {entry} under `ignore` accepts it{reason}")
                }
            });
        }
        Some(match self.desk.standing(place, finding, case.moment) {
            Standing::New => "policy keeps it".to_owned(),
            Standing::Continues {
                anomaly,
                count,
                next,
            } => {
                let next = next.map_or_else(
                    || "it is not reported again".to_owned(),
                    |next| format!("it is reported again at {next}"),
                );
                format!(
                    "it belongs to an episode of {anomaly} that is open already, {count} so far; {next}"
                )
            }
            Standing::Cooling { seconds } => format!(
                "the same was reported less than the cooldown ago; {seconds} s of it are left"
            ),
        })
    }
}

/// How a step looks to the detectors: what is known of it, in words.
fn looks(view: &View<'_>) -> Vec<String> {
    match (view.call(), view.reply()) {
        (Some(call), _) => detectors::looks_of_call(view, call),
        (None, Some(reply)) => detectors::looks_of_reply(reply),
        (None, None) => Vec::new(),
    }
}
