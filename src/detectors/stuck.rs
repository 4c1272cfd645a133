//! `stuck`: the same call again and again.
//!
//! - Invariant: `threshold` calls of one lane and turn with one key, equal answers, and nothing changed
//!   between them that they depend on; in a row, or among 10 calls (A1, A3).
//! - Ignores: waits; what lies before a differing, successful change of the same target; polls below their
//!   own limit (10 answers without new output, or 6 over 5 minutes); unfinished states asked for at least
//!   10 s apart.
//! - Source rule (Promptise STUCK): the last `threshold` calls are equal in tool and arguments.
//! - Cost: one look at the keys of the last calls; a walk back over at most those between two repeats.

use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Outcome, Severity};

use super::ready::Ready;
use super::repeats::{AMONG, Enough, Past, Row};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `stuck`.
    pub struct Config (enabled: true) {
        /// Equal calls needed.
        threshold: u32 = 3,
    }
}

/// The detector.
#[derive(Debug)]
pub(super) struct Stuck {
    threshold: u32,
    ready: Ready,
}

impl Stuck {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            threshold: config.threshold,
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, past: &Past<'_>) -> Judgement {
        let Some(exact) = past.judged.exact else {
            return Judgement::NotAssessed(Lack::NoArguments);
        };
        let threshold = usize::try_from(self.threshold).unwrap_or(usize::MAX);
        let from = past.calls.len().checked_sub(threshold);
        let Some(row) = from.and_then(|from| past.calls.get(from..)) else {
            return Judgement::Quiet;
        };
        if !row.iter().all(|call| call.exact == Some(exact)) {
            return Judgement::Quiet;
        }
        let members: SmallVec<[usize; 16]> = (past.calls.len() - row.len()..past.calls.len())
            .rev()
            .collect();
        let mut finding = past.finding(AnomalyType::Stuck, &members, &[exact]);
        finding.message = wording::message(format!(
            "`{}` was called {threshold} times in a row with identical arguments",
            wording::tool(past.names, past.judged.tool),
        ));
        finding.facts = vec![
            ("repeats", count(members.len())),
            ("threshold", count(threshold)),
        ];
        Judgement::Found(Box::new(finding))
    }

    fn aware(&self, past: &Past<'_>) -> Judgement {
        if past.judged.void {
            return self.void(past);
        }
        if past.judged.key.is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        if past.seen_before() {
            let row = past.row();
            let threshold = past.threshold(self.threshold);
            let among = AMONG.max(u32::try_from(threshold).unwrap_or(u32::MAX));
            if let Some(enough) = past.enough(&row, threshold, among) {
                return Judgement::Found(Box::new(self.repeated(past, &row, threshold, enough)));
            }
        }
        lacking(past)
    }

    fn repeated(&self, past: &Past<'_>, row: &Row, threshold: usize, enough: Enough) -> Finding {
        let usable = match enough {
            Enough::NoResults => row.members.len(),
            Enough::Repeats | Enough::Poll => row.sure,
        };
        let members = row.members.get(..usable).unwrap_or_default();
        let keys: SmallVec<[u64; 1]> = past.judged.key.into_iter().collect();
        let mut finding = past.finding(AnomalyType::Stuck, members, &keys);
        let onset = members.get(..threshold).unwrap_or(members);
        match enough {
            Enough::Repeats => {
                if !past.raw_equal(members) {
                    finding.confidence = Confidence::Likely;
                }
                if past.tries(onset) < onset.len() {
                    finding.reason = Some("copies");
                }
            }
            Enough::Poll => {
                finding.rule = 2;
                finding.reason = Some("poll");
                finding.confidence = Confidence::Likely;
            }
            Enough::NoResults => {
                finding.reason = Some("no_results");
                finding.confidence = Confidence::Heuristic;
                finding.severity = self.ready.severity(Severity::Info);
            }
        }
        finding.message = message(past, members, enough);
        finding.facts = facts(past, members, threshold);
        finding
    }

    /// Calls that do nothing: their arguments are noise, so any of the tool's void calls is a repeat.
    fn void(&self, past: &Past<'_>) -> Judgement {
        let judged = past.judged;
        let threshold = past.threshold(self.threshold);
        let among = usize::try_from(AMONG).unwrap_or(usize::MAX).max(threshold);
        let mut members: SmallVec<[usize; 16]> = SmallVec::new();
        members.push(past.calls.len().saturating_sub(1));
        let voids = past
            .back()
            .take(among - 1)
            .filter(|(_, call)| call.void && call.tool == judged.tool);
        members.extend(voids.map(|(index, _)| index));
        if members.len() < threshold {
            return Judgement::Quiet;
        }
        let mut finding = past.finding(AnomalyType::Stuck, &members, &[]);
        finding.rule = 3;
        finding.reason = Some("void");
        finding.confidence = Confidence::Likely;
        finding.message = wording::message(format!(
            "`{}` was called {} times without anything to do within {among} calls",
            wording::tool(past.names, judged.tool),
            members.len(),
        ));
        finding.facts = facts(past, &members, threshold);
        Judgement::Found(Box::new(finding))
    }
}

impl Detector for Stuck {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::Stuck
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        usize::try_from(self.threshold)
            .unwrap_or(usize::MAX)
            .saturating_mul(2)
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(past) = Past::new(view, &self.ready) else {
            return Judgement::Quiet;
        };
        match self.ready.rules {
            Rules::Source => self.source(&past),
            Rules::Aware => self.aware(&past),
        }
    }
}

/// What a quiet verdict about repeats has lacked, if anything.
pub(super) fn lacking(past: &Past<'_>) -> Judgement {
    if past.judged.lane_unknown && past.blind() {
        return Judgement::NotAssessed(Lack::LaneUnknown);
    }
    if !past.judged.answer.known && past.judged.outcome == Outcome::Unknown {
        return Judgement::NotAssessed(Lack::NoResults);
    }
    Judgement::Quiet
}

pub(super) fn count(number: usize) -> Fact {
    Fact::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The first of these members in time.
fn first<'v>(past: &Past<'v>, members: &[usize]) -> &'v Call {
    members
        .last()
        .and_then(|index| past.calls.get(*index))
        .unwrap_or(past.judged)
}

/// The numbers of a row of repeats: how many, over how many calls and how long, since which step.
pub(super) fn facts(
    past: &Past<'_>,
    members: &[usize],
    threshold: usize,
) -> Vec<(&'static str, Fact)> {
    let first = first(past, members);
    let from = members.last().copied().unwrap_or_default();
    let took = past.judged.end.since(first.start).as_millis();
    vec![
        ("repeats", count(members.len())),
        ("threshold", count(threshold)),
        ("among_calls", count(past.calls.len().saturating_sub(from))),
        ("since_step", Fact::Int(i64::from(first.step))),
        (
            "over_ms",
            Fact::Int(i64::try_from(took).unwrap_or(i64::MAX)),
        ),
    ]
}

fn message(past: &Past<'_>, members: &[usize], enough: Enough) -> String {
    let tool = wording::tool(past.names, past.judged.tool);
    let first = first(past, members);
    let (times, step) = (members.len(), first.step);
    let time = wording::span(past.judged.end.since(first.start));
    wording::message(match enough {
        Enough::Repeats => format!(
            "`{tool}` was called {times} times with the same arguments and the same answer since step {step} ({time})"
        ),
        Enough::Poll => {
            format!(
                "`{tool}` was asked {times} times without new output since step {step} ({time})"
            )
        }
        Enough::NoResults => format!(
            "`{tool}` was called {times} times with the same arguments since step {step} ({time}); its answers are not known"
        ),
    })
}
