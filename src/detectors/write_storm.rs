//! `write_storm`: too many writes in a window.
//!
//! - Invariant: the writes of the lane's calls that ended within `window` before the judged one, this one
//!   included, are more than `limit`. One call is one write per path, a delete counts double (A16), at most two
//!   of one call, and all of one call as half the limit: a storm is many calls. Also: eight whole-file writes of one path with nothing but writes between (reason `rewrite`).
//! - Ignores: temp trees, calls that failed or were refused.
//! - Source rule (gptme anomaly_watchdog, first version): every attempt of `save`, `append` and `patch` is one.
//! - Cost: O(calls in the window), for writes alone.

use std::time::Duration;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::lanes::{Call, NameId, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Outcome, Severity, Timestamp};

use super::ready::Ready;
use super::repeats::{bounded, mix};
use super::scope_escape::may_write_unseen;
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

/// Deletes of one call that count double. Real coding runs end with one command that removes their scratch
/// files by name: 9 of 110 that succeeded did so (SWE-bench), and no storm is one call.
const DELETES_DOUBLED_MAX: u16 = 2;

/// What the writes of one call count.
pub(super) fn weight(call: &Call, limit: i64, rules: Rules) -> i64 {
    let writes = i64::from(call.more.writes);
    match rules {
        Rules::Source => writes,
        Rules::Aware => {
            let twice = i64::from(deletes_of(call).min(DELETES_DOUBLED_MAX));
            (writes + twice).min((limit / 2).max(1))
        }
    }
}

config! {
    /// Settings of `write_storm`.
    pub struct Config (enabled: true) {
        /// Writes allowed within the window.
        limit: i64 = 20,
        /// The sliding window.
        #[serde(with = "crate::model::units::duration")]
        window: Duration = Duration::from_secs(60),
    }
}

/// Whole-file writes of one path that are too many.
pub(super) const REWRITES: usize = 8;
/// Calls looked back over for each write allowed: reads lie between writes.
const CALLS_A_WRITE: usize = 3;

/// When each call was made last.
type Ends = HashMap<(Option<u64>, NameId), Timestamp, foldhash::fast::RandomState>;

/// The detector.
#[derive(Debug)]
pub(super) struct WriteStorm {
    ready: Ready,
    limit: i64,
    window: Duration,
}

impl WriteStorm {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            ready: Ready::new(config.common(), rules),
            limit: config.limit,
            window: config.window,
        }
    }

    fn source(&self) -> bool {
        self.ready.rules == Rules::Source
    }

    fn is_write(&self, view: &View<'_>, call: &Call) -> bool {
        let done = self.source() || matches!(call.outcome, Outcome::Succeeded | Outcome::Unknown);
        let ignored = || {
            self.ready
                .of(view.names, call.tool)
                .is_some_and(|over| over.ignore)
        };
        call.more.writes > 0 && done && !ignored()
    }

    fn storm(&self, view: &View<'_>, judged: &Call) -> Option<Finding> {
        let recent = self.recent(view, judged);
        let sum = |weight: fn(&Call) -> u16| -> i64 {
            recent.iter().map(|call| i64::from(weight(call))).sum()
        };
        let (writes, deletes) = (sum(|call| call.more.writes), sum(deletes_of));
        let weights = recent.iter();
        let weight: i64 = weights
            .map(|call| weight(call, self.limit, self.ready.rules))
            .sum();
        if weight <= self.limit || writes == 0 {
            return None;
        }
        let by_deletes = deletes > 0 && writes - deletes <= self.limit;
        let own = if by_deletes {
            Severity::Error
        } else {
            Severity::Warning
        };
        let what = if by_deletes {
            format!("{writes} writes, {deletes} of them deletes,")
        } else {
            format!("{writes} writes")
        };
        Some(Finding {
            anomaly: AnomalyType::WriteStorm,
            rule: 1,
            severity: self.ready.severity(own),
            confidence: Confidence::Exact,
            reason: by_deletes.then_some("deletes"),
            members: bounded(recent.iter().copied()),
            count: u32::try_from(writes).unwrap_or(u32::MAX),
            evidence_key: 0,
            shape: SmallVec::new(),
            message: wording::message(format!(
                "{what} within {} (limit {})",
                wording::span(self.window),
                self.limit
            )),
            facts: vec![
                ("writes", Fact::Int(writes)),
                ("deletes", Fact::Int(deletes)),
                ("limit", Fact::Int(self.limit)),
            ],
            tool: Some(view.names.text(judged.tool)),
        })
    }

    /// The writes of the window, oldest first. Left out are those that only repeat one of the window before them,
    /// where their tool says that this changes nothing more (`idempotentHint`).
    fn recent<'v>(&self, view: &View<'v>, judged: &Call) -> SmallVec<[&'v Call; 64]> {
        let hinted = |call: &Call| call.more.hints.idempotent == Some(true) && call.key.is_some();
        let calls = view.calls();
        // Only where a tool says so: the latest end of each write up to the call looked at.
        let mut ends: Option<Ends> = calls.iter().any(hinted).then(Ends::default);
        let mut recent = SmallVec::new();
        for call in calls.iter().filter(|call| self.is_write(view, call)) {
            let again = ends.as_mut().is_some_and(|ends| {
                let last = ends.insert((call.key, call.tool), call.end);
                if let (Some(last), Some(end)) = (last, ends.get_mut(&(call.key, call.tool))) {
                    *end = last.max(*end);
                }
                hinted(call) && last.is_some_and(|last| call.end.since(last) < self.window)
            });
            if !again && judged.end.since(call.end) < self.window {
                recent.push(call);
            }
        }
        recent
    }

    /// One file written anew as a whole, again and again, and nothing looked at in between.
    fn rewrite(&self, view: &View<'_>, judged: &Call) -> Option<Finding> {
        let path = judged.more.rewrites;
        if self.source() || path == 0 {
            return None;
        }
        let row = view
            .calls()
            .iter()
            .rev()
            .take_while(|call| call.turn == judged.turn && self.is_write(view, call))
            .filter(|call| call.more.rewrites == path);
        let count = row.clone().count();
        if count < REWRITES {
            return None;
        }
        let mut members: SmallVec<[&Call; 16]> = row.collect();
        members.reverse();
        let tool = view.names.text(judged.tool);
        Some(Finding {
            anomaly: AnomalyType::WriteStorm,
            rule: 2,
            severity: self.ready.severity(Severity::Warning),
            confidence: Confidence::Likely,
            reason: Some("rewrite"),
            members: bounded(members.iter().copied()),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            evidence_key: mix(path, 1),
            shape: SmallVec::new(),
            message: wording::message(format!(
                "`{}` wrote one file anew {count} times, and nothing was run or read in between",
                wording::name(&tool)
            )),
            facts: vec![(
                "writes",
                Fact::Int(i64::try_from(count).unwrap_or(i64::MAX)),
            )],
            tool: Some(tool),
        })
    }
}

/// What a call deletes: nothing when its tool is said to be not destructive (`destructiveHint: false`). The
/// other way round the hint says too little: servers set it on every click and every edit.
fn deletes_of(call: &Call) -> u16 {
    if call.more.hints.destructive == Some(false) {
        return 0;
    }
    call.more.deletes
}

impl Detector for WriteStorm {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::WriteStorm
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        let limit = usize::try_from(self.limit.max(1)).unwrap_or(usize::MAX);
        let calls = if self.source() { 1 } else { CALLS_A_WRITE };
        limit.saturating_add(1).saturating_mul(calls)
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.call() else {
            return Judgement::Quiet;
        };
        if !self.is_write(view, judged) {
            return if may_write_unseen(judged) {
                Judgement::NotAssessed(Lack::NoArguments)
            } else {
                Judgement::Quiet
            };
        }
        let found = self
            .storm(view, judged)
            .or_else(|| self.rewrite(view, judged));
        found.map_or(Judgement::Quiet, |finding| {
            Judgement::Found(Box::new(finding))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, SECOND};
    use super::*;
    use crate::model::Timestamp;

    fn write(bench: &mut Bench, at: u64, deletes: bool, path: u64, outcome: Outcome) {
        let mut call = bench.blank("w", "w");
        (call.start, call.end) = (Timestamp::from_nanos(at), Timestamp::from_nanos(at));
        call.more.writes = 1;
        call.more.deletes = deletes.into();
        call.more.rewrites = path;
        call.outcome = outcome;
        bench.push(call);
    }

    fn fired(config: &str, rules: Rules, bench: &Bench) -> Vec<(usize, Option<&'static str>)> {
        let config: Config = serde_json::from_str(config).unwrap();
        let found = bench.found(&WriteStorm::new(&config, rules)).into_iter();
        found.map(|(at, found)| (at, found.reason)).collect()
    }

    #[test]
    fn a16_more_than_the_limit_within_the_window() {
        let mut bench = Bench::default();
        for second in 0..5 {
            write(
                &mut bench,
                second * 20 * SECOND,
                false,
                0,
                Outcome::Succeeded,
            );
        }
        assert_eq!(fired(r#"{"limit": 3}"#, Rules::Aware, &bench), []);
        // The fourth comes exactly a minute after the first: that one is out.
        assert_eq!(fired(r#"{"limit": 2}"#, Rules::Aware, &bench).len(), 3);
        assert_eq!(
            fired(r#"{"limit": 3, "window": "61s"}"#, Rules::Aware, &bench).len(),
            2
        );
    }

    #[test]
    fn a16_deletes_count_double_and_what_failed_not_at_all() {
        let mut bench = Bench::default();
        for at in 0..4 {
            write(&mut bench, at, true, 0, Outcome::Succeeded);
            write(&mut bench, at, false, 0, Outcome::Refused);
        }
        let deletes = Some("deletes");
        let aware = fired(r#"{"limit": 4}"#, Rules::Aware, &bench);
        assert_eq!(aware, [(4, deletes), (6, deletes)]);
    }

    #[test]
    fn a16_one_command_that_cleans_up_is_no_storm() {
        let mut bench = Bench::default();
        for at in 0..4 {
            write(&mut bench, at, false, 0, Outcome::Succeeded);
        }
        let mut clean_up = |at| {
            let mut call = bench.blank("rm", "rm");
            (call.start, call.end) = (Timestamp::from_nanos(at), Timestamp::from_nanos(at));
            (call.more.writes, call.more.deletes) = (40, 40);
            call.outcome = Outcome::Succeeded;
            bench.push(call);
            fired("{}", Rules::Aware, &bench)
        };
        assert_eq!(clean_up(5), []);
        // Two such commands and what was written before are one.
        assert_eq!(clean_up(6), [(5, Some("deletes"))]);
    }

    #[test]
    fn a16_one_file_written_anew() {
        let mut bench = Bench::default();
        for at in 0..9 {
            write(&mut bench, at * 60 * SECOND, false, 7, Outcome::Succeeded);
        }
        let rewrite = Some("rewrite");
        assert_eq!(
            fired("{}", Rules::Aware, &bench),
            [(7, rewrite), (8, rewrite)]
        );
        assert_eq!(fired("{}", Rules::Source, &bench), []);
        let look = bench.blank("r", "r");
        bench.push(look);
        write(&mut bench, 900 * SECOND, false, 7, Outcome::Succeeded);
        assert_eq!(fired("{}", Rules::Aware, &bench).len(), 2);
    }
}
