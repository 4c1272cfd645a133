//! What may change in a run without changing what is said of it, and what may not: over the field cases, in
//! both shapes.

#[path = "support/field.rs"]
mod field;
#[expect(dead_code, reason = "only single steps are taken from it here")]
#[path = "support/scripts.rs"]
mod scripts;

use std::collections::{BTreeMap, BTreeSet};

use field::{Case, Dialect, Found, Request, Shape, Span, Step, What};
use proptest::prelude::*;

const SHAPES: [Shape; 2] = [Shape::Plain, Shape::Sdk];

fn cases() -> Vec<Case> {
    let mut cases = field::load("cases");
    cases.extend(field::load("rivals"));
    cases
}

/// What matters of findings: what, why, where.
fn essence(found: &[Found]) -> BTreeSet<(&'static str, Option<&'static str>, i64)> {
    found
        .iter()
        .map(|f| (f.anomaly, f.reason, f.step))
        .collect()
}

/// What kinds there are; the repetition family is one, for which of its members speaks hangs on what came
/// first.
fn kinds(found: &[Found]) -> BTreeSet<&'static str> {
    let kind = |f: &Found| match f.anomaly {
        "stuck" | "failure_loop" | "ping_pong" | "loop" | "transition_repeat" => "repetition",
        other => other,
    };
    found.iter().map(kind).collect()
}

fn judge(case: &Case, requests: &[Request]) -> Vec<Found> {
    field::judge(case, requests, Dialect::GenAi)
}

/// Counts what was compared, and keeps what differed.
#[derive(Default)]
struct Compared {
    applied: usize,
    wrong: Vec<String>,
}

impl Compared {
    fn same(&mut self, case: &Case, what: &str, want: &[Found], got: &[Found]) {
        self.applied += 1;
        let (want, got) = (essence(want), essence(got));
        if want != got {
            let lost: Vec<_> = want.difference(&got).collect();
            let new: Vec<_> = got.difference(&want).collect();
            self.wrong
                .push(format!("{} ({what}): lost {lost:?}, new {new:?}", case.id));
        }
    }

    fn same_kinds(&mut self, case: &Case, what: &str, want: &[Found], found: &[Found]) {
        self.applied += 1;
        let (want, got) = (kinds(want), kinds(found));
        if want != got {
            self.wrong.push(format!(
                "{} ({what}): {got:?} instead of {want:?}: {found:?}",
                case.id
            ));
        }
    }

    fn holds(&mut self, case: &Case, what: &str, holds: bool, got: &[Found]) {
        self.applied += 1;
        if !holds {
            self.wrong
                .push(format!("{} ({what}): {:?}", case.id, essence(got)));
        }
    }

    #[expect(
        clippy::print_stdout,
        reason = "how much was compared is told with --nocapture"
    )]
    fn finish(self, name: &str, least: usize) {
        println!(
            "{name}: {} compared, {} differ",
            self.applied,
            self.wrong.len()
        );
        assert!(
            self.applied >= least,
            "{name}: only {} compared",
            self.applied
        );
        assert!(
            self.wrong.is_empty(),
            "{name}: {} of {} differ:\n{}",
            self.wrong.len(),
            self.applied,
            self.wrong.join("\n")
        );
    }
}

/// How alike findings have to be.
#[derive(Clone, Copy)]
enum Alike {
    /// Type, reason and step.
    Wholly,
    /// Type: which step carries the mark, and how often an episode was raised by then, hangs on arrival.
    InKind,
}

/// Compares what is said of the requests of each case and of what `bend` makes of them.
fn spans_bent(
    name: &str,
    least: usize,
    alike: Alike,
    bend: impl Fn(&Case, Vec<Request>) -> Option<Vec<Request>>,
) {
    let mut compared = Compared::default();
    for case in cases() {
        for shape in SHAPES {
            let requests = field::requests(&case, shape);
            let want = judge(&case, &requests);
            if let Some(bent) = bend(&case, requests) {
                let got = judge(&case, &bent);
                let shape = format!("{shape:?}");
                match alike {
                    Alike::Wholly => compared.same(&case, &shape, &want, &got),
                    Alike::InKind => compared.same_kinds(&case, &shape, &want, &got),
                }
            }
        }
    }
    compared.finish(name, least);
}

/// Requests of one span each, which arrive 50 ms after they end.
fn singly(requests: Vec<Request>) -> Vec<Request> {
    requests
        .into_iter()
        .flat_map(|request| {
            request.spans.into_iter().map(move |span| Request {
                received: Some(span.end + 50),
                spans: vec![span],
                ..Request::default()
            })
        })
        .collect()
}

fn by_arrival(mut requests: Vec<Request>) -> Vec<Request> {
    requests.sort_by_key(|request| request.received);
    requests
}

/// A number that looks like chance and is none.
fn chance(seed: u64, at: usize) -> u64 {
    let mut x = seed
        .wrapping_add(at as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 29)
}

fn ms(number: u64) -> i64 {
    i64::try_from(number).unwrap_or_default()
}

#[test]
fn one_span_a_request_says_the_same() {
    spans_bent("one span a request", 300, Alike::InKind, |_, requests| {
        Some(by_arrival(singly(requests)))
    });
}

#[test]
fn requests_reordered_within_two_seconds_say_the_same() {
    for seed in [1, 2] {
        spans_bent("reordered within 2 s", 300, Alike::InKind, |_, requests| {
            let mut requests = by_arrival(singly(requests));
            for (at, request) in requests.iter_mut().enumerate() {
                let late = ms(chance(seed, at) % 2_000);
                request.received = request.received.map(|received| received + late);
            }
            Some(by_arrival(requests))
        });
    }
}

#[test]
fn one_batch_late_by_six_seconds_says_the_same() {
    spans_bent(
        "one batch late by 6 s",
        150,
        Alike::InKind,
        |case, requests| {
            // Tools run in a process of their own, whose exporter is slow once it has been heard of.
            let mut requests = by_arrival(singly(requests));
            for request in &mut requests {
                let tools = request
                    .spans
                    .iter()
                    .all(|span| matches!(span.what, What::Tool { .. }));
                request.process = if tools { "tools" } else { "agent" };
            }
            let from = usize::try_from(chance(case.id.len() as u64, 3) % 4).unwrap_or(0);
            let mut tools = requests
                .iter_mut()
                .filter(|request| request.process == "tools")
                .skip(1 + from)
                .take(3)
                .peekable();
            tools.peek()?;
            for request in tools {
                request.received = request.received.map(|received| received + 6_000);
            }
            Some(by_arrival(requests))
        },
    );
}

#[test]
fn names_of_a_single_agent_say_nothing() {
    spans_bent(
        "agent names dropped",
        250,
        Alike::Wholly,
        |case, mut requests| {
            let names: BTreeSet<_> = case.steps.iter().filter_map(|s| s.agent.as_ref()).collect();
            if names.len() > 1 {
                return None;
            }
            for span in requests.iter_mut().flat_map(|request| &mut request.spans) {
                span.agent = None;
            }
            Some(requests)
        },
    );
}

#[test]
fn the_whole_history_as_input_says_the_same() {
    spans_bent("full history", 100, Alike::Wholly, |_, mut requests| {
        let mut histories: BTreeMap<u64, Vec<(&'static str, String)>> = BTreeMap::new();
        let mut chats = 0;
        for span in requests.iter_mut().flat_map(|request| &mut request.spans) {
            let history = histories
                .entry(span.trace)
                .or_insert_with(|| vec![("user", "Please do it.".to_owned())]);
            match &mut span.what {
                What::Chat(chat) => {
                    if let Some(goal) = chat.input.first() {
                        history.clear();
                        history.push(goal.clone());
                    }
                    chat.input.clone_from(history);
                    history.push(("assistant", chat.text.clone().unwrap_or_default()));
                    chats += 1;
                }
                What::Tool { result, .. } => {
                    history.push(("tool", result.clone().unwrap_or_default()));
                }
                What::Agent(_) => {}
            }
        }
        (chats > 0).then_some(requests)
    });
}

#[test]
fn a_second_instrumentation_says_nothing_new() {
    spans_bent("every span doubled", 300, Alike::Wholly, |_, requests| {
        let twice = requests.into_iter().flat_map(|request| {
            let again = |span: &Span| Span {
                id: field::double(span.id),
                parent: Some(span.id),
                ..span.clone()
            };
            let second = Request {
                spans: request.spans.iter().map(again).collect(),
                scope: "second-instrumentation",
                ..Request::default()
            };
            [request, second]
        });
        Some(twice.collect())
    });
}

#[test]
fn one_agent_split_into_three_finds_nothing() {
    let mut compared = Compared::default();
    for mut case in cases() {
        if !case.expect.is_empty() || case.steps.iter().any(|step| step.agent.is_some()) {
            continue;
        }
        for (at, step) in case.steps.iter_mut().enumerate() {
            step.agent = ["reader", "writer", "tester"]
                .get(at % 3)
                .map(|name| (*name).to_owned());
        }
        for shape in SHAPES {
            let got = judge(&case, &field::requests(&case, shape));
            let quiet = got
                .iter()
                .all(|f| case.also_ok.iter().any(|fine| fine == f.anomaly));
            compared.holds(&case, &format!("{shape:?}"), quiet, &got);
        }
    }
    compared.finish("one agent split into three", 120);
}

/// The result of a step with a line more.
fn with_line(step: &Step, line: &str) -> Option<String> {
    step.result
        .as_ref()
        .map(|result| format!("{result}\n{line}"))
}

#[test]
fn noise_in_answers_changes_no_verdict() {
    let mut compared = Compared::default();
    for case in cases() {
        // Under other arguments a measured value is news (A1): only repeats of one call are judged here.
        for shape in SHAPES {
            let mut noisy = case.clone();
            for (at, step) in noisy.steps.iter_mut().enumerate() {
                let n = chance(11, at);
                step.result = with_line(
                    step,
                    &format!(
                        "took {} ms, pid {}, at 2031-02-0{}T10:{:02}:{:02}Z, request_id=req_{:016x}, \
                         {:08x}-1111-4222-8333-{:012x}",
                        n % 9_000 + 3,
                        n % 30_000 + 100,
                        n % 9 + 1,
                        n % 60,
                        n / 60 % 60,
                        n,
                        n & 0xffff_ffff,
                        n & 0xffff_ffff_ffff
                    ),
                );
            }
            let mut still = case.clone();
            for step in &mut still.steps {
                step.result = with_line(
                    step,
                    "took 3 ms, pid 7, at 2031-02-01T10:00:00Z, request_id=req_0123456789abcdef, \
                     11111111-1111-4222-8333-444444444444",
                );
            }
            let want = judge(&still, &field::requests(&still, shape));
            let repeats = |f: &Found| one_call(&case, f) || f.anomaly == "premature_victory";
            if !want.iter().all(repeats) {
                continue;
            }
            let got = judge(&noisy, &field::requests(&noisy, shape));
            compared.same(&case, &format!("{shape:?}"), &want, &got);
        }
    }
    compared.finish("volatile tokens", 200);
}

/// Whether a finding of the repetition family is about one and the same call, by its answers.
fn one_call(case: &Case, found: &Found) -> bool {
    let calls: BTreeSet<_> = found
        .members
        .iter()
        .filter_map(|at| case.steps.get(usize::try_from(*at).ok()?))
        .map(|step| (&step.tool, &step.args))
        .collect();
    let repeated = matches!(
        found.anomaly,
        "stuck" | "transition_repeat" | "loop" | "ping_pong"
    );
    let by_answer = !matches!(found.reason, Some("copies" | "void"));
    let few = calls.len() * 2 <= found.members.len();
    repeated && by_answer && few
}

#[test]
fn a_count_in_the_answers_silences_a_repeat() {
    let mut compared = Compared::default();
    for case in cases() {
        for shape in SHAPES {
            let want = judge(&case, &field::requests(&case, shape));
            let refused = |f: &Found| {
                f.members.iter().any(|at| {
                    usize::try_from(*at).is_ok_and(|at| case.steps.get(at).is_some_and(|s| s.error))
                })
            };
            if !want.iter().any(|f| one_call(&case, f) && !refused(f)) {
                continue;
            }
            let mut counted = case.clone();
            for (at, step) in counted.steps.iter_mut().enumerate() {
                step.result = with_line(step, &format!("{} items left", 400 - at * 3));
            }
            let got = judge(&counted, &field::requests(&counted, shape));
            let silent = !got.iter().any(|f| one_call(&counted, f) && !refused(f));
            compared.holds(&case, &format!("{shape:?}"), silent, &got);
        }
    }
    compared.finish("a count in the answers", 20);
}

#[test]
fn an_effective_edit_before_each_repeat_silences_it() {
    let mut compared = Compared::default();
    for case in cases() {
        let shell = |step: &Step| matches!(step.tool.as_deref(), Some("bash" | "read_file"));
        for shape in SHAPES {
            let want = judge(&case, &field::requests(&case, shape));
            let family = |f: &Found| {
                matches!(
                    f.anomaly,
                    "stuck" | "loop" | "ping_pong" | "transition_repeat" | "failure_loop"
                ) && !matches!(f.reason, Some("copies" | "void"))
            };
            // A command that the user refuses, and the tail of a log, do not hang on the edit.
            let apart = ["fail-user-said-no", "vol-growing-log-tail"].contains(&case.id.as_str());
            if !want.iter().any(family) || !case.steps.iter().all(shell) || apart {
                continue;
            }
            let mut edited = case.clone();
            edited.steps.clear();
            for (at, step) in case.steps.iter().enumerate() {
                let path = serde_json::from_str::<serde_json::Value>(&step.args)
                    .ok()
                    .and_then(|args| Some(args.get("path")?.as_str()?.to_owned()))
                    .unwrap_or_else(|| "src/work.py".to_owned());
                let args = serde_json::json!({ "path": path, "old": format!("v{at}"), "new": format!("v{}", at + 1) });
                let mut edit = scripts::tool("edit_file", &args.to_string(), "ok: 1 replacement");
                edit.t_ms = step.t_ms - step.dur_ms - 20;
                edit.dur_ms = 5;
                (edit.agent, edit.turn) = (step.agent.clone(), step.turn);
                edited.steps.extend([edit, step.clone()]);
            }
            let got = judge(&edited, &field::requests(&edited, shape));
            compared.holds(&case, &format!("{shape:?}"), !got.iter().any(family), &got);
        }
    }
    compared.finish("an effective edit between", 16);
}

/// Whether a step edits a file by the tools of the cases.
fn edits(step: &Step) -> bool {
    matches!(step.tool.as_deref(), Some("edit_file" | "write_file"))
}

#[test]
fn an_edit_moved_after_the_tests_makes_a_claim_premature() {
    let mut compared = Compared::default();
    let rows = include_str!("fixtures/field/healthy/runners.txt");
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let parts: Vec<String> = row.split(" | ").map(scripts::unescape).collect();
        let [source, command, green, _] = parts.as_slice() else {
            panic!("{row}");
        };
        for claim in [
            "All tests pass.",
            "Erledigt, alle Tests sind grün.",
            "已完成，所有测试都通过了。",
        ] {
            let args = serde_json::json!({ "path": source, "old": "a", "new": "b" });
            let edit = scripts::tool("edit_file", &args.to_string(), "ok: 1 replacement");
            let test = scripts::shell(command, 0, green);
            let last = Step {
                last: Some(claim.to_owned()),
                ..Step::default()
            };
            let mut case = scripts::silent(&format!("{command}: {claim}"), vec![test, edit, last]);
            for (at, step) in (1..).zip(&mut case.steps) {
                step.t_ms = at * 3_000;
            }
            let got = field::play(&case, Shape::Plain);
            let stale = got.iter().any(|f| f.reason == Some("stale") && f.alarms());
            compared.holds(&case, "generated", stale, &got);
        }
    }
    for case in cases() {
        let claims = case.steps.last().is_some_and(|step| step.last.is_some());
        let quiet = case.expect.is_empty() && case.kind.iter().any(|k| k == "premature_victory");
        let source =
            |step: &Step| edits(step) && !step.args.contains(".md") && !step.args.contains("/tmp/");
        let edit = case.steps.iter().rposition(source);
        let tests = case.steps.iter().rposition(|step| {
            step.exit_code == Some(0)
                && ["test", "gradlew"]
                    .iter()
                    .any(|word| step.args.contains(word))
        });
        let (true, true, Some(edit), Some(tests)) = (claims, quiet, edit, tests) else {
            continue;
        };
        if edit > tests {
            continue;
        }
        let mut moved = case.clone();
        let times: Vec<(i64, i64)> = case.steps.iter().map(|s| (s.t_ms, s.dur_ms)).collect();
        let taken = moved.steps.remove(edit);
        moved.steps.insert(tests, taken);
        for (step, (end, duration)) in moved.steps.iter_mut().zip(times) {
            (step.t_ms, step.dur_ms) = (end, duration);
        }
        for shape in SHAPES {
            let got = judge(&moved, &field::requests(&moved, shape));
            let fires = got.iter().any(|f| f.anomaly == "premature_victory");
            compared.holds(&case, &format!("{shape:?}"), fires, &got);
        }
    }
    compared.finish("an edit after the tests", 110);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever what belongs together is cut into requests, the same is said.
    #[test]
    fn requests_may_be_cut_anywhere(which in 0usize..176, sizes in prop::collection::vec(1usize..9, 1..40)) {
        let case = cases().swap_remove(which);
        let spans: Vec<Span> = field::requests(&case, Shape::Sdk)
            .into_iter()
            .flat_map(|request| request.spans)
            .collect();
        let mut cut = Vec::new();
        let mut rest = spans.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (some, others) = rest.split_at((*size).min(rest.len()));
            cut.push(Request { spans: some.to_vec(), ..Request::default() });
            rest = others;
        }
        let want = judge(&case, &field::requests(&case, Shape::Sdk));
        prop_assert_eq!(kinds(&want), kinds(&judge(&case, &cut)), "{}", case.id);
    }

    /// Noise of one class, put into any answer of a loop, does not hide it.
    #[test]
    fn noise_anywhere_hides_no_loop(which in 0usize..13, at in 0usize..40, number in 100u32..99_999) {
        let case = field::load("rivals").swap_remove(which);
        let mut noisy = case.clone();
        let count = noisy.steps.len();
        if let Some(step) = noisy.steps.get_mut(at % count) {
            step.result = step.result.as_ref().map(|result| format!("{result} [{number} ms]"));
        }
        let mut still = case.clone();
        if let Some(step) = still.steps.get_mut(at % count) {
            step.result = step.result.as_ref().map(|result| format!("{result} [7 ms]"));
        }
        let (want, got) = (field::play(&still, Shape::Plain), field::play(&noisy, Shape::Plain));
        prop_assert_eq!(essence(&want), essence(&got), "{}", case.id);
    }
}
