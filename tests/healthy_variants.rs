//! Hundreds of healthy runs, made from the silent field cases and from runs written down for this: other
//! agents' tools, other runners, languages, numbers, orders, conventions. None may be flagged.

#[path = "support/bend.rs"]
mod bend;
#[path = "support/field.rs"]
mod field;
#[path = "support/scripts.rs"]
mod scripts;

use std::collections::BTreeMap;

use field::{Case, Dialect, Shape, Step};

/// Field cases whose calls do not hang on each other.
const INDEPENDENT: &[&str] = &[
    "quiet-edits-same-file-different-parts",
    "quiet-gd-import-updates",
    "quiet-grep-exit-1",
    "quiet-license-header-batch",
    "quiet-read-file-in-chunks",
    "quiet-sliding-time-window",
    "quiet-uuid-arguments",
    "quiet-ws-codemod-batch",
    "quiet-ws-rows-and-logs",
    "slices-of-a-file",
    "installs-one-by-one",
    "lookups-of-many-customers",
    "rows-saved-one-by-one",
    "edits-one-file-many-places",
    "scaffolds-a-project",
    "lookup-of-a-word-in-many-languages",
    "probes-before-work",
];

/// Field cases that wait for something: hurried they would poll.
const PATIENT: &[&str] = &[
    "quiet-poll-long-interval",
    "quiet-server-boot-health",
    "pods-become-ready",
    "ci-run-in-progress",
    "percent-of-a-job",
];

/// Cases whose names of tools are what they are about.
const NAMED: &[&str] = &["quiet-th-case-alias", "names-of-tools-folded"];

/// The field cases of which nothing may be said.
fn silent_cases() -> Vec<Case> {
    field::load("cases")
        .into_iter()
        .filter(|case| case.expect.is_empty() && case.confidence != "contested")
        .collect()
}

fn written_cases() -> Vec<Case> {
    scripts::parse(include_str!("fixtures/field/healthy/runs.txt"))
}

/// Lines of a fixture that are no comments.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// What was tried and what was said of it.
#[derive(Default)]
struct Tally {
    tried: BTreeMap<String, usize>,
    notes: Vec<String>,
    alarms: Vec<String>,
}

impl Tally {
    /// In one shape and then in the other, to try twice as much in the same time.
    fn try_case(&mut self, way: &str, case: &Case) {
        let tried: usize = self.tried.values().sum();
        let shape = if tried.is_multiple_of(2) {
            Shape::Plain
        } else {
            Shape::Sdk
        };
        self.try_as(way, case, shape, Dialect::GenAi);
    }

    fn try_as(&mut self, way: &str, case: &Case, shape: Shape, dialect: Dialect) {
        *self.tried.entry(way.to_owned()).or_default() += 1;
        for found in field::judge(case, &field::requests(case, shape), dialect) {
            if case.also_ok.iter().any(|fine| fine == found.anomaly) {
                continue;
            }
            let line = format!(
                "{} ({way}, {shape:?}, {dialect:?}): {} at {} of {:?}: {}",
                case.id, found.anomaly, found.step, found.members, found.message
            );
            if found.alarms() {
                self.alarms.push(line);
            } else {
                self.notes.push(line);
            }
        }
    }

    #[expect(
        clippy::print_stdout,
        reason = "what was tried is told with --nocapture"
    )]
    fn finish(self, least: usize) {
        let tried: usize = self.tried.values().sum();
        println!("{tried} runs: {:?}", self.tried);
        println!("{} notes\n{}", self.notes.len(), self.notes.join("\n"));
        assert!(tried >= least, "only {tried} variants");
        assert!(
            self.alarms.is_empty(),
            "{} false alarms in {tried} runs:\n{}",
            self.alarms.len(),
            self.alarms.join("\n")
        );
    }
}

#[test]
fn written_runs_stay_silent() {
    let mut tally = Tally::default();
    for case in written_cases() {
        tally.try_as("as written", &case, Shape::Plain, Dialect::GenAi);
        tally.try_as("as written", &case, Shape::Sdk, Dialect::GenAi);
        tally.try_as("dialect", &case, Shape::Plain, Dialect::OpenInference);
        tally.try_as("dialect", &case, Shape::Sdk, Dialect::OpenInference);
    }
    tally.finish(200);
}

#[test]
fn silent_cases_stay_silent_in_other_words() {
    let mut tally = Tally::default();
    for case in silent_cases() {
        tally.try_as("dialect", &case, Shape::Plain, Dialect::OpenInference);
        tally.try_as("dialect", &case, Shape::Sdk, Dialect::OpenInference);
    }
    for case in silent_cases().into_iter().chain(written_cases()) {
        for which in 0..bend::VOCABULARIES {
            let other = bend::vocabulary(&case, which);
            let same = other
                .steps
                .iter()
                .map(|s| &s.args)
                .eq(case.steps.iter().map(|s| &s.args));
            if !same && !NAMED.contains(&case.id.as_str()) {
                tally.try_case(&format!("tools of agent {which}"), &other);
            }
        }
        for column in 1..4 {
            if let Some(other) = bend::nouns(&case, column) {
                tally.try_case("other nouns", &other);
            }
        }
        for digit in ['7', '4'] {
            if let Some(other) = bend::numbers(&case, digit) {
                tally.try_case("other numbers", &other);
            }
        }
    }
    tally.finish(600);
}

#[test]
fn silent_cases_stay_silent_in_other_rhythms() {
    let mut tally = Tally::default();
    let cases: Vec<Case> = silent_cases().into_iter().chain(written_cases()).collect();
    for (at, case) in cases.iter().enumerate() {
        let id = case.id.as_str();
        tally.try_case("slower", &bend::stretched(case, 1500));
        if !PATIENT.contains(&id) {
            tally.try_case("faster", &bend::stretched(case, 40));
        }
        if case.policy.budget.steps.is_none() && case.policy.budget.cost_usd.is_none() {
            tally.try_optional("turns", bend::turns(case, 4));
        }
        tally.try_optional("narrated", bend::narrated(case));
        if INDEPENDENT.contains(&id) {
            tally.try_case("backwards", &bend::reordered(case, |at, n| n - 1 - at));
            tally.try_case("rotated", &bend::reordered(case, |at, n| (at + n / 2) % n));
            for size in [2, 3, 5] {
                tally.try_case("in parallel", &bend::parallel(case, size));
            }
        }
        for step in [7, 23] {
            let other = &cases[(at + step) % cases.len()];
            tally.try_optional("beside another", bend::beside(case, other));
            tally.try_optional("after another", bend::after(case, other));
        }
    }
    tally.finish(600);
}

impl Tally {
    fn try_optional(&mut self, way: &str, case: Option<Case>) {
        if let Some(case) = case {
            self.try_case(way, &case);
        }
    }
}

/// One runner of `runners.txt`.
struct Runner {
    source: String,
    command: String,
    green: String,
    red: String,
}

fn runners() -> Vec<Runner> {
    rows(include_str!("fixtures/field/healthy/runners.txt"))
        .map(|row| {
            let mut parts = row.split(" | ").map(scripts::unescape);
            let mut next = || parts.next().unwrap_or_default();
            Runner {
                source: next(),
                command: next(),
                green: next(),
                red: next(),
            }
        })
        .collect()
}

fn texts(kind: &str) -> Vec<String> {
    rows(include_str!("fixtures/field/healthy/texts.txt"))
        .filter_map(|row| row.strip_prefix(kind)?.strip_prefix(' ').map(str::to_owned))
        .collect()
}

impl Runner {
    fn edit(&self, old: &str, new: &str) -> Step {
        let args = serde_json::json!({ "path": self.source, "old": old, "new": new });
        scripts::tool("edit_file", &args.to_string(), "ok: 1 replacement")
    }

    fn green(&self) -> Step {
        scripts::shell(&self.command, 0, &self.green)
    }

    fn red(&self) -> Step {
        scripts::shell(&self.command, 1, &self.red)
    }

    /// Healthy ways to use it before a claim.
    fn ways(&self) -> Vec<Vec<Step>> {
        let tail = format!("{} 2>&1 | tail -20", self.command);
        let there = format!("cd /work/shop && {}", self.command);
        let commit = || scripts::shell("git add -A && git commit -qm 'Fix rounding'", 0, "");
        let changelog = serde_json::json!({ "path": "CHANGELOG.md", "content": "- Fix rounding" });
        vec![
            vec![self.edit("a", "b"), self.green()],
            vec![self.edit("a", "b"), scripts::shell(&tail, 0, &self.green)],
            vec![
                self.edit("a", "b"),
                scripts::shell(&there, 0, &self.green),
                commit(),
            ],
            vec![
                self.red(),
                self.edit("a", "b"),
                self.red(),
                self.edit("b", "c"),
                self.red(),
                self.edit("c", "d"),
                self.red(),
                self.edit("d", "e"),
                self.green(),
            ],
            vec![
                self.edit("a", "b"),
                self.green(),
                scripts::tool("write_file", &changelog.to_string(), "ok"),
                commit(),
            ],
            vec![
                self.green(),
                self.edit("a", "b"),
                self.green(),
                self.edit("c", "d"),
                self.green(),
            ],
        ]
    }
}

/// Steps three seconds apart, and the last word.
fn told(id: String, mut steps: Vec<Step>, last: &str) -> Case {
    steps.push(Step {
        last: Some(last.to_owned()),
        ..Step::default()
    });
    for (at, step) in (1..).zip(&mut steps) {
        step.t_ms = at * 3_000;
    }
    scripts::silent(&id, steps)
}

#[test]
fn claims_after_green_tests_of_any_runner_stay_silent() {
    let mut tally = Tally::default();
    let claims = texts("green");
    for (number, runner) in runners().iter().enumerate() {
        for (way, steps) in runner.ways().into_iter().enumerate() {
            let claim = &claims[(number + way) % claims.len()];
            let case = told(format!("{} {way}", runner.command), steps, claim);
            tally.try_case(&format!("way {way}"), &case);
            tally.try_case(
                "tools of other agents",
                &bend::vocabulary(&case, (number + way) % bend::VOCABULARIES),
            );
        }
    }
    tally.finish(400);
}

#[test]
fn honest_texts_and_true_claims_stay_silent_in_every_language() {
    let mut tally = Tally::default();
    for runner in runners().iter().step_by(7) {
        for text in texts("green") {
            let steps = vec![runner.edit("a", "b"), runner.green()];
            tally.try_case("true claim", &told(text.clone(), steps, &text));
        }
        for text in texts("open") {
            let steps = vec![runner.edit("a", "b")];
            tally.try_case("no claim", &told(text.clone(), steps, &text));
        }
    }
    tally.finish(150);
}
