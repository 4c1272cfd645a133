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
use super::repeats::{AMONG, Past};
use super::rows::{Enough, Row};
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
        if past.key(past.judged).is_none() {
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
        let keys: SmallVec<[u64; 1]> = past.key(past.judged).into_iter().collect();
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
        self.ready.window(self.threshold, 2)
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
    let unknown = match past.judged.outcome {
        Outcome::Unknown | Outcome::Succeeded => !past.judged.answer.known,
        Outcome::Failed(failure) => failure.vague,
        Outcome::Refused => false,
    };
    if unknown {
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
    let took = past.judged.end.since(first.start);
    // Recorded by hand, or too fast for its clock: nothing to tell.
    let time = match took.is_zero() {
        true => String::new(),
        false => format!(" ({})", wording::span(took)),
    };
    wording::message(match enough {
        Enough::Repeats => format!(
            "`{tool}` was called {times} times with the same arguments and the same answer since step {step}{time}"
        ),
        Enough::Poll => {
            format!("`{tool}` was asked {times} times without new output since step {step}{time}")
        }
        Enough::NoResults => format!(
            "`{tool}` was called {times} times with the same arguments since step {step}{time}; its answers are not known"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, fires, last};
    use super::*;
    use crate::detectors::ToolOverride;

    fn stuck() -> Stuck {
        Stuck::new(&Config::default(), Rules::Aware)
    }

    fn source() -> Stuck {
        Stuck::new(&Config::default(), Rules::Source)
    }

    const NEVER: [usize; 0] = [];

    #[test]
    fn source_row() {
        assert_eq!(fires(&source(), "a a a a"), [2, 3]);
        assert_eq!(fires(&source(), "a a b a a"), NEVER);
        assert_eq!(fires(&source(), "a=x a=y | a=z"), [2]);
        assert_eq!(fires(&source(), "a a?"), NEVER);
    }

    #[test]
    fn a1_counts_only_equal_answers() {
        assert_eq!(fires(&stuck(), "a a a"), [2]);
        assert_eq!(fires(&stuck(), "a=x a=y a=z a=z"), NEVER);
        assert_eq!(fires(&stuck(), "a=x a=y a=y a=y"), [3]);
        // Volatile tokens are no difference between equal calls.
        assert_eq!(fires(&stuck(), "a=t1 a=t2 a=t3"), [2]);
        assert_eq!(
            last(&stuck(), "a=t1 a=t2 a=t3").unwrap().confidence,
            Confidence::Likely
        );
        assert_eq!(fires(&stuck(), "a!7=x a!7=y a!7=z"), [2]);
        assert_eq!(fires(&stuck(), "a!7 a!8 a!7"), NEVER);
    }

    #[test]
    fn a1_a_turn_or_a_change_of_the_target_is_a_new_beginning() {
        assert_eq!(fires(&stuck(), "a a | a a"), NEVER);
        assert_eq!(fires(&stuck(), "a<f a<f e>f a<f"), NEVER);
        // Another target, a failed change, the same change once more: no new beginning.
        assert_eq!(fires(&stuck(), "a<f a<f e>g a<f"), [3]);
        assert_eq!(fires(&stuck(), "a<f a<f e>f! a<f"), [3]);
        assert_eq!(fires(&stuck(), "e>f a<f a<f e>f a<f"), [4]);
    }

    #[test]
    fn a2_unknown_answers_need_twice_as_many() {
        assert_eq!(fires(&stuck(), "a? a? a? a? a?"), NEVER);
        assert_eq!(fires(&stuck(), "a? a? a? a? a? a?"), [5]);
        let finding = last(&stuck(), "a? a? a? a? a? a?").unwrap();
        assert_eq!(finding.severity, Severity::Info);
        assert_eq!(finding.reason, Some("no_results"));
        let bench = Bench::of("a?");
        assert_eq!(
            bench.at(&stuck(), 0),
            Judgement::NotAssessed(Lack::NoResults)
        );
    }

    #[test]
    fn who_waits_for_news_has_patience() {
        let waits = |times: usize| "a=ok s~/15 ".repeat(times);
        assert_eq!(fires(&stuck(), &waits(9)), NEVER);
        assert_eq!(fires(&stuck(), &waits(10)), [18]);
        assert_eq!(fires(&stuck(), &"a=news s~/15 ".repeat(3)), [4]);
        assert_eq!(fires(&stuck(), &"a=ok s~/2 ".repeat(3)), [4]);
    }

    #[test]
    fn a_look_tells_what_an_acknowledgement_does_not() {
        let next = "a=ok(other) b=x a=ok(other) b=y a=ok(other) b=z a=ok(other)";
        assert_eq!(fires(&stuck(), next), NEVER);
        let dead = "a=ok(other) b=x a=ok(other) b=x a=ok(other)";
        assert_eq!(fires(&stuck(), dead), [4]);
        let other_looks = "a=ok(other) b=x a=ok(other) c=y a=ok(other)";
        assert_eq!(fires(&stuck(), other_looks), [4]);
        let sites = "n1 a=ok(other) p=x n2 a=ok(other) p=y n3 a=ok(other) p=z n4 a=ok(other)";
        assert_eq!(fires(&stuck(), sites), NEVER);
        let told_by_itself = "a=y(other) b=x a=y(other) b=z a=y(other)";
        assert_eq!(fires(&stuck(), told_by_itself), [4]);
    }

    #[test]
    fn a3_three_among_ten() {
        assert_eq!(fires(&stuck(), "a b a c a"), [4]);
        assert_eq!(fires(&stuck(), "a b c d e a f g h a"), [9]);
        assert_eq!(fires(&stuck(), "a b c d e a f g h i a"), NEVER);
        assert_eq!(last(&stuck(), "a b a c a a").unwrap().count, 4);
    }

    #[test]
    fn a3_waits_are_no_steps_and_polls_have_patience() {
        assert_eq!(fires(&stuck(), "s~ s~ s~ s~"), NEVER);
        let polls = |n: usize| vec!["a*"; n].join(" ");
        assert_eq!(fires(&stuck(), &polls(9)), NEVER);
        assert_eq!(fires(&stuck(), &polls(10)), [9]);
        let slow = "a*/60 a*/60 a*/60 a*/60 a*/60 a*/60";
        assert_eq!(fires(&stuck(), slow), [5]);
        assert_eq!(
            fires(&stuck(), "a*/50 a*/50 a*/50 a*/50 a*/50 a*/50"),
            NEVER
        );
        // An unfinished state: patience only for those who wait between.
        assert_eq!(fires(&stuck(), "a^ a^ a^"), [2]);
        assert_eq!(fires(&stuck(), "a^/10 a^/10 a^/10 a^/10"), NEVER);
    }

    #[test]
    fn a3_copies_in_one_try_and_void_calls() {
        let copies = last(&stuck(), "a a& a&").unwrap();
        assert_eq!(copies.reason, Some("copies"));
        let void = last(&stuck(), "b1_ c b2_ d b3_").unwrap();
        assert_eq!((void.reason, void.count), (Some("void"), 3));
        assert_eq!(fires(&stuck(), "b1_ c b2_"), NEVER);
    }

    #[test]
    fn tools_can_be_set_apart() {
        let mut config = Config::default();
        let over = |threshold, ignore| ToolOverride {
            threshold,
            ignore,
            ..ToolOverride::default()
        };
        config.tools.insert("a*".to_owned(), over(Some(4), false));
        config.tools.insert("ab".to_owned(), over(None, true));
        let stuck = Stuck::new(&config, Rules::Aware);
        assert_eq!(fires(&stuck, "a a a a"), [3]);
        assert_eq!(fires(&stuck, "ab ab ab ab ab"), NEVER);
        assert_eq!(fires(&stuck, "b b b"), [2]);
    }

    #[test]
    fn lacks() {
        let mut bench = Bench::default();
        let mut call = bench.blank("a", "a");
        call.key = None;
        bench.push(call);
        assert_eq!(
            bench.at(&stuck(), 0),
            Judgement::NotAssessed(Lack::NoArguments)
        );
        let mut bench = Bench::default();
        for parent in 1..4 {
            let mut call = bench.blank("a", "a");
            call.lane_unknown = true;
            call.parent = Some(super::super::testing::span(parent + 90));
            bench.push(call);
        }
        assert_eq!(
            bench.at(&stuck(), 2),
            Judgement::NotAssessed(Lack::LaneUnknown)
        );
    }

    #[test]
    fn tells_what_happened() {
        let finding = last(&stuck(), "b a a a").unwrap();
        insta::assert_snapshot!(
            finding.message,
            @"`a` was called 3 times with the same arguments and the same answer since step 1 (2.1 s)"
        );
        assert_eq!(finding.members.last().unwrap().step, 3);
    }
}
