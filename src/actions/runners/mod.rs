//! Recognises checks by the shape of the command: program, sub-command, script or target name. Never by a
//! word inside a path or an argument.
//!
//! Invariant: a command that only lists, collects, shows help or a version is no check.

mod languages;
mod line;
mod programs;
mod targets;
mod wrappers;

use crate::model::CheckKind;

pub(super) use line::Line;

use super::script::{Word, Words};

/// A check, as the command line tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// The runner as people call it.
    pub(super) runner: String,
    /// What kind.
    pub(super) kind: CheckKind,
    /// Directory named by an option (`-C`, `--prefix`, `--manifest-path`, ...).
    pub(super) dir: Option<Word>,
    /// A path or a filter narrows it.
    pub(super) partial: bool,
    /// It builds: weak evidence as well.
    pub(super) builds: bool,
}

impl Check {
    fn new(runner: impl Into<String>, kind: CheckKind) -> Self {
        Self {
            runner: runner.into(),
            kind,
            dir: None,
            partial: false,
            builds: false,
        }
    }

    fn tests(runner: impl Into<String>) -> Self {
        Self::new(runner, CheckKind::Tests)
    }

    fn checker(runner: impl Into<String>) -> Self {
        Self::new(runner, CheckKind::Static)
    }

    fn build(runner: impl Into<String>) -> Self {
        Self {
            builds: true,
            ..Self::checker(runner)
        }
    }
}

/// What a command is, as far as checks go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    /// A check runs.
    Check(Check),
    /// A runner only lists, collects, shows help or a version.
    Tells,
    /// No runner of ours.
    Other,
}

/// What a command is.
pub(super) fn recognised(words: &[Word]) -> Recognised {
    let (line, dir) = runner_of(words);
    let Some(mut check) = by_name(line).or_else(|| targets::environment_script(Line(words))) else {
        return Recognised::Other;
    };
    if only_tells(line) {
        return Recognised::Tells;
    }
    check.dir = check.dir.or(dir);
    Recognised::Check(check)
}

/// The check that a command is, if it is one.
fn recognise(words: &[Word]) -> Option<Check> {
    match recognised(words) {
        Recognised::Check(check) => Some(check),
        _ => None,
    }
}

/// The runner behind its wrappers, and the directory that they set.
fn runner_of(words: &[Word]) -> (Line<'_>, Option<Word>) {
    let mut line = Line(words);
    let mut dir = None;
    // Runners of runners: `poetry run python -m pytest` needs three.
    for _ in 0..6 {
        match wrappers::unwrapped(line) {
            Some((next, d)) if next > 0 && next < line.0.len() => {
                dir = d.or(dir);
                line = line.from(next);
            }
            _ => break,
        }
    }
    (line, dir)
}

/// Options with which nothing is checked.
const TELLING: Words = Words(
    "--collect-only --co --collectonly --list --listTests --list-tests --list-files --help --version --dry-run --listonly --showConfig \
     --show-config --fixtures --setup-plan --just-print --print-config --init",
);

/// Lists, collects, helps, shows a version: nothing is checked.
fn only_tells(line: Line<'_>) -> bool {
    // Behind `--` stand the options of the runner that a script or `cargo` starts.
    let flagged = line.0.iter().skip(1).any(|w| TELLING.contains(&w.text));
    let flags: &[&str] = match line.name() {
        "make" | "gmake" | "just" | "ctest" | "task" => &["-n", "-N", "-l", "--summary"],
        "pytest" | "jest" | "cargo" => &["-h", "-V"],
        "go" => &["-h", "-list"],
        _ => &[],
    };
    flagged || line.has(flags)
}

fn by_name(line: Line<'_>) -> Option<Check> {
    let name = line.name();
    programs::tests_by_name(name, line)
        .or_else(|| programs::static_by_name(name, line))
        .or_else(|| targets::build_tools(name, line))
        .or_else(|| languages::language_tools(name, line))
}

fn with_filter(mut check: Check, partial: bool) -> Check {
    check.partial |= partial;
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<Check> {
        let words: Vec<Word> = text
            .split(' ')
            .map(|w| Word {
                text: w.to_owned(),
                dynamic: false,
            })
            .collect();
        recognise(&words)
    }

    #[test]
    fn words_in_paths_and_arguments_are_no_runs() {
        for text in [
            "make clean",
            "cat jest.config.js",
            "echo cargo test",
            "ls tests",
            "pip install pytest",
            "npm install jest",
            "rm -rf pytest_cache",
            "git commit -m test",
            "vim test_a.py",
            "pytest --collect-only",
            "pytest --co -q",
            "jest --listTests",
            "pytest --version",
            "npm run dev",
            "npm ci",
            "go test -list .",
            "make -n test",
            "tox -l",
            "mvn clean",
            "gradle clean",
            "make test-clean",
            "python app.py",
            "cargo run",
            "npx create-react-app x",
            "playwright install",
            "ruff format .",
        ] {
            assert_eq!(check(text), None, "{text}");
        }
    }
}
