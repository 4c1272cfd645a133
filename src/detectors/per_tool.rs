//! Which of the keys under `tools` mean something to which detector.
//!
//! Invariant: a key that the detector does not heed, one beside a key that leaves the calls out, and an entry that
//! changes nothing are refused at load, so that nobody believes in them.

use std::collections::BTreeMap;

use globset::Glob;

use crate::model::{AnomalyType, Role};

use super::ranges::threshold_of;
use super::settings::Problem;
use super::{KeyBy, Rules, Settings, ToolOverride, Unit};

const ALL: [&str; 5] = ["threshold", "poll", "ignore", "role", "key"];

/// The keys that a detector heeds; none for one that does not look at calls of tools one by one.
pub(super) const fn heeded(anomaly: AnomalyType) -> &'static [&'static str] {
    match anomaly {
        AnomalyType::Stuck | AnomalyType::TransitionRepeat => &ALL,
        // A failure is no answer: whether it came of a poll does not matter.
        AnomalyType::FailureLoop => &["threshold", "ignore", "role", "key"],
        // A pattern has several tools: whose threshold would it be?
        AnomalyType::PingPong | AnomalyType::Loop => &["poll", "ignore", "role", "key"],
        AnomalyType::GoalDrift => &["ignore", "role"],
        AnomalyType::ToolHallucination
        | AnomalyType::InvalidArgs
        | AnomalyType::ScopeEscape
        | AnomalyType::WriteStorm
        | AnomalyType::NovelHost => &["ignore"],
        AnomalyType::EmptyResponse
        | AnomalyType::ErrorRate
        | AnomalyType::PrematureVictory
        | AnomalyType::Stutter
        | AnomalyType::BudgetSteps
        | AnomalyType::BudgetCost
        | AnomalyType::BudgetTime => &[],
    }
}

/// Whether a detector ever judges a call of a tool: those that look at answers alone cannot differ by tool.
pub fn judges_calls(anomaly: AnomalyType, settings: &Settings) -> bool {
    match anomaly {
        AnomalyType::EmptyResponse | AnomalyType::PrematureVictory | AnomalyType::Stutter => false,
        AnomalyType::ErrorRate => settings.error_rate.unit == Unit::Call,
        _ => true,
    }
}

/// The keys that are written.
fn written(over: &ToolOverride) -> impl Iterator<Item = &'static str> {
    let ToolOverride {
        threshold,
        poll,
        ignore,
        role,
        key,
    } = over;
    let given = [
        threshold.is_some(),
        poll.is_some(),
        *ignore,
        role.is_some(),
        key.is_some(),
    ];
    ALL.into_iter()
        .zip(given)
        .filter_map(|(name, given)| given.then_some(name))
}

/// Everything under `tools` that would change nothing or cannot be. `rules` is the processor's choice.
pub(super) fn check(settings: &Settings, rules: Rules, problems: &mut Vec<Problem>) {
    for anomaly in AnomalyType::ALL {
        let common = settings.common(anomaly);
        let heeded = heeded(anomaly);
        let source = common.rules.unwrap_or(rules) == Rules::Source;
        let exceptions = anomaly.family_rank().is_some();
        for (glob, over) in common.tools {
            if source && exceptions {
                let message = "the source rule knows no exceptions for tools";
                let problem = Problem::of_tool(anomaly, glob, None, message);
                problems
                    .push(problem.helped("leave `tools` out, or set `rules: aware`".to_owned()));
                continue;
            }
            if heeded.is_empty() {
                let message = format!("`{anomaly}` makes no difference between tools");
                let problem = Problem::of_tool(anomaly, glob, None, message);
                problems.push(problem.helped("leave `tools` out".to_owned()));
                continue;
            }
            for key in written(over).filter(|key| !heeded.contains(key)) {
                let message = format!("`{key}` means nothing to `{anomaly}`");
                let problem = Problem::of_tool(anomaly, glob, Some(key), message);
                problems.push(problem.helped(format!("allowed: {}", heeded.join(", "))));
            }
            beside(anomaly, glob, over, problems);
            if neutral(over, own_threshold(anomaly, settings)) && !is_exception(glob, common.tools)
            {
                let message = format!("this changes nothing for `{glob}`");
                let problem = Problem::of_tool(anomaly, glob, None, message);
                problems.push(problem.helped(
                    "leave it out: without an entry all is as the detector has it".to_owned(),
                ));
            }
            threshold(anomaly, glob, over, problems);
        }
    }
}

/// The detector's own number of repeats.
fn own_threshold(anomaly: AnomalyType, settings: &Settings) -> Option<f64> {
    threshold_of(anomaly)?.value(settings)
}

fn threshold(anomaly: AnomalyType, glob: &str, over: &ToolOverride, problems: &mut Vec<Problem>) {
    let (Some(threshold), Some(key)) = (over.threshold, threshold_of(anomaly)) else {
        return;
    };
    let range = key.range(Rules::Aware);
    if let Some(fault) = range.fault(threshold.into())
        && heeded(anomaly).contains(&"threshold")
    {
        let problem = Problem::of_tool(anomaly, glob, Some("threshold"), fault);
        problems.push(problem.helped(format!("allowed: {}", range.words())));
    }
}

/// Keys beside one that leaves the calls out altogether.
fn beside(anomaly: AnomalyType, glob: &str, over: &ToolOverride, problems: &mut Vec<Problem>) {
    if over.role == Some(Role::Finish) {
        let message = "calls of role `finish` are no calls here but final answers";
        problems.push(
            Problem::of_tool(anomaly, glob, Some("role"), message)
                .helped("give the role under `tools` of the processor".to_owned()),
        );
    }
    let waits = over.role == Some(Role::Wait) && anomaly.family_rank().is_some();
    let (out, kept) = match (over.ignore, waits) {
        (true, _) => ("ignore: true", "ignore"),
        (false, true) => ("role: wait", "role"),
        (false, false) => return,
    };
    let keys = written(over).filter(|key| *key != kept && heeded(anomaly).contains(key));
    for key in keys {
        let message = format!("`{key}` means nothing beside `{out}`: the calls are not looked at");
        let problem = Problem::of_tool(anomaly, glob, Some(key), message);
        problems.push(problem.helped(format!("leave `{key}` out, or `{kept}`")));
    }
}

/// Whether an entry says only what holds without it.
fn neutral(over: &ToolOverride, own: Option<f64>) -> bool {
    let same = over
        .threshold
        .is_none_or(|threshold| own == Some(threshold.into()));
    let key = over.key.is_none_or(|key| key == KeyBy::Call);
    same && key && !over.ignore && over.poll.is_none() && over.role.is_none()
}

/// Whether a wider glob beside it means the same tools, so that the entry is an exception from that one.
fn is_exception(glob: &str, tools: &BTreeMap<String, ToolOverride>) -> bool {
    let pattern = |text: &str| text.contains(['*', '?', '[', '{']);
    tools.keys().filter(|other| pattern(other)).any(|other| {
        let wider = Glob::new(other).is_ok_and(|other| other.compile_matcher().is_match(glob));
        // Whether two patterns meet is not worked out: the shorter one may be the wider.
        other != glob && (wider || (pattern(glob) && other.len() < glob.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fires, last};
    use super::super::{Detector, Table};
    use super::*;

    const VALUES: [(&str, &str); 5] = [
        ("threshold", "5"),
        ("poll", "true"),
        ("ignore", "true"),
        ("role", "\"wait\""),
        ("key", "\"tool\""),
    ];

    fn settings(anomaly: AnomalyType, glob: &str, over: &str) -> Settings {
        let json = format!(r#"{{"{anomaly}": {{"tools": {{"{glob}": {{{over}}}}}}}}}"#);
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn what_is_heeded_is_taken_and_all_else_refused() {
        for anomaly in AnomalyType::ALL {
            for (key, value) in VALUES {
                let over = format!(r#""{key}": {value}"#);
                let problems = settings(anomaly, "a.*", &over).check(Rules::Aware);
                if heeded(anomaly).contains(&key) {
                    assert_eq!(problems, [], "{anomaly} {key}");
                    continue;
                }
                let [problem] = problems.as_slice() else {
                    panic!("{anomaly} {key}: {problems:?}");
                };
                let path = [anomaly.name(), "tools", "a.*", key];
                let depth = if heeded(anomaly).is_empty() { 3 } else { 4 };
                assert_eq!(problem.path, path[..depth], "{anomaly} {key}");
            }
        }
        for (over, key) in [
            (r#""ignore": true, "threshold": 5"#, Some("threshold")),
            (r#""role": "wait", "poll": true"#, Some("poll")),
            (r#""role": "finish""#, Some("role")),
            (r#""threshold": 3"#, None),
            (r#""key": "call""#, None),
            (r#""ignore": false"#, None),
            (r#""threshold": 3000"#, Some("threshold")),
        ] {
            let problems = settings(AnomalyType::Stuck, "a", over).check(Rules::Aware);
            let [problem] = problems.as_slice() else {
                panic!("{over}: {problems:?}");
            };
            assert_eq!(problem.path.get(3).map(String::as_str), key, "{over}");
            assert!(problem.help.is_some(), "{over}");
        }
        let exception = r#"{"stuck": {"tools": {"a*": {"ignore": true}, "ab": {}, "a[c]": {}}}}"#;
        let exception: Settings = serde_json::from_str(exception).unwrap();
        assert_eq!(exception.check(Rules::Aware), []);
        let least = settings(AnomalyType::Stuck, "a", r#""threshold": 1"#).check(Rules::Aware);
        assert_eq!(least[0].message, "is 1, must be at least 2");
        let source = settings(AnomalyType::Stuck, "a", r#""ignore": true"#);
        assert_eq!(source.check(Rules::Source).len(), 1);
    }

    fn detector(anomaly: AnomalyType, over: &str) -> Box<dyn Detector> {
        let settings = settings(anomaly, "a", over);
        super::super::table::build(anomaly, &settings, Rules::Aware).unwrap()
    }

    /// Fires on the line without the override (the first list) and with it (the second).
    fn differs(anomaly: AnomalyType, over: &str, line: &str, without: &[usize], with: &[usize]) {
        assert_eq!(
            fires(&*detector(anomaly, ""), line),
            without,
            "{anomaly} {line}"
        );
        assert_eq!(
            fires(&*detector(anomaly, over), line),
            with,
            "{anomaly} {over} {line}"
        );
    }

    #[test]
    fn thresholds() {
        use AnomalyType::{FailureLoop, Stuck, TransitionRepeat};
        let over = r#""threshold": 5"#;
        differs(Stuck, over, "a a a a a", &[2, 3, 4], &[4]);
        differs(TransitionRepeat, over, "a a a a a", &[2, 3, 4], &[4]);
        differs(FailureLoop, over, "a! a! a! a! a!", &[2, 3, 4], &[4]);
        // Of another tool they are as ever.
        differs(Stuck, over, "b b b", &[2], &[2]);
    }

    #[test]
    fn a_lane_keeps_as_many_calls_as_a_threshold_needs() {
        for anomaly in [
            AnomalyType::Stuck,
            AnomalyType::FailureLoop,
            AnomalyType::TransitionRepeat,
        ] {
            let wide = settings(anomaly, "a", r#""threshold": 300"#);
            assert!(
                Table::new(&wide, Rules::Aware).window_max() >= 300,
                "{anomaly}"
            );
        }
    }

    #[test]
    fn polls() {
        use AnomalyType::{Loop, PingPong, Stuck, TransitionRepeat};
        let over = r#""poll": true"#;
        differs(Stuck, over, "a a a a", &[2, 3], &[]);
        differs(TransitionRepeat, over, "a a a a", &[2, 3], &[]);
        differs(PingPong, over, "a b a b", &[3], &[]);
        differs(Loop, over, "a b c a b c", &[5], &[]);
        let no = r#""poll": false"#;
        differs(Stuck, no, "a* a* a*", &[], &[2]);
    }

    #[test]
    fn ignored_tools() {
        use AnomalyType::{FailureLoop, Loop, PingPong, Stuck, TransitionRepeat};
        let over = r#""ignore": true"#;
        differs(Stuck, over, "a a a", &[2], &[]);
        differs(TransitionRepeat, over, "a a a", &[2], &[]);
        differs(FailureLoop, over, "a! a! a!", &[2], &[]);
        differs(PingPong, over, "a b a b", &[3], &[]);
        differs(Loop, over, "a b c a b c", &[5], &[]);
        // Its calls are no steps between others either.
        differs(PingPong, over, "b a c b a c", &[], &[5]);
        differs(PingPong, over, "b c a b c", &[], &[4]);
    }

    #[test]
    fn roles() {
        use AnomalyType::{Loop, PingPong, Stuck, TransitionRepeat};
        let wait = r#""role": "wait""#;
        differs(Stuck, wait, "a a a", &[2], &[]);
        differs(TransitionRepeat, wait, "a a a", &[2], &[]);
        differs(PingPong, wait, "a b a b", &[3], &[]);
        differs(Loop, wait, "a b c a b c", &[5], &[]);
        // What only looks like waiting is a step by configuration.
        differs(Stuck, r#""role": "other""#, "a~ a~ a~", &[], &[2]);
        let poll = r#""role": "poll""#;
        differs(Stuck, poll, "a a a a", &[2, 3], &[]);
    }

    #[test]
    fn keys() {
        use AnomalyType::{FailureLoop, Loop, PingPong, Stuck, TransitionRepeat};
        let over = r#""key": "tool""#;
        differs(Stuck, over, "a1=x a2=x a3=x a4=y", &[], &[2]);
        differs(TransitionRepeat, over, "a1=x a2=x a3=x", &[], &[2]);
        // Nearly the same ones are another rule.
        let rule = |over| last(&*detector(FailureLoop, over), "a1! a2! a3!").map(|f| f.rule);
        assert_eq!((rule(""), rule(over)), (Some(2), Some(1)));
        differs(PingPong, over, "a1=x b a2=x b", &[], &[3]);
        differs(Loop, over, "a1=x b c a2=x b c", &[], &[5]);
        // One episode, however the arguments change.
        let shape = |line| last(&*detector(Stuck, over), line).unwrap().shape;
        assert_eq!(shape("a1=x a2=x a3=x"), shape("a1=x a2=x a3=x a4=x"));
    }
}
