//! What an exit code means, given the command that it belongs to.

use super::script::{Simple, Words};

/// The meaning of a call's exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitMeaning {
    /// Success or failure, as it stands.
    #[default]
    Plain,
    /// An answer: no match, differs, not there (exit 1 of grep, diff, test, which). Not a failure.
    Answer,
    /// A checker found something (linters). A failure, but never one that counts as an error of the call.
    Findings,
    /// Stopped on purpose: 124, 130, 137, 143 after `timeout` or `kill`.
    Stopped,
    /// It asked whether a program or package is there. A failure that never counts as an error of the call.
    Probe,
}

/// Commands whose exit 1 says no.
const ANSWERS: Words = Words(
    "grep egrep fgrep zgrep rg ag ack diff cmp colordiff test [ [[ pgrep pidof which type \
     hash comm expr let false look whereis findmnt mountpoint nc lsof",
);

/// Commands that report findings by their exit code.
const LINTERS: Words = Words(
    "ruff flake8 pylint mypy pyright black isort bandit eslint tslint prettier stylelint biome \
     shellcheck golangci-lint staticcheck govet rubocop hadolint yamllint markdownlint \
     clang-tidy cppcheck ktlint swiftlint phpstan psalm phpcs actionlint codespell pycodestyle \
     pydocstyle vulture semgrep detekt standard xo oxlint rustfmt gofmt shfmt djlint sqlfluff \
     ansible-lint tflint pyflakes",
);

/// What the exit code of a call means, by the last command whose status it can be.
pub(super) fn meaning(
    last: Option<&Simple>,
    kills: bool,
    limited: bool,
    exit_code: Option<i32>,
) -> ExitMeaning {
    let Some(code) = exit_code.filter(|code| *code != 0) else {
        return ExitMeaning::Plain;
    };
    if matches!(code, 124 | 130 | 137 | 143) && (limited || kills) {
        return ExitMeaning::Stopped;
    }
    let Some(last) = last else {
        return ExitMeaning::Plain;
    };
    let name = last.name();
    let argument = |at: usize| last.words.get(at).map_or("", |w| w.text.as_str());
    if is_probe(last) {
        // Only the shell's own questions are answered by 1 alone.
        return if ANSWERS.contains(name) && code == 1 {
            ExitMeaning::Answer
        } else {
            ExitMeaning::Probe
        };
    }
    if code == 1 && ANSWERS.contains(name) {
        return ExitMeaning::Answer;
    }
    let git_answer = name == "git"
        && code == 1
        && match git_verb(last) {
            "grep" | "check-ignore" | "config" | "merge-base" | "show-ref" => true,
            "diff" | "diff-index" | "diff-files" => last.words.iter().any(|w| {
                matches!(
                    w.text.as_str(),
                    "--quiet" | "--exit-code" | "--no-index" | "--check"
                )
            }),
            "rev-parse" => true,
            _ => false,
        };
    if git_answer {
        return ExitMeaning::Answer;
    }
    if code < 126 && (LINTERS.contains(name) || runs_linter(name, argument(1), argument(2))) {
        return ExitMeaning::Findings;
    }
    ExitMeaning::Plain
}

fn git_verb(simple: &Simple) -> &str {
    super::git::verb(&simple.words).map_or("", |(_, verb)| verb)
}

/// `python -m flake8`, `npx eslint`, `cargo clippy`, `npm run lint`, `go vet`.
fn runs_linter(name: &str, first: &str, second: &str) -> bool {
    match (name, first) {
        ("cargo", "clippy" | "fmt") | ("go", "vet") => true,
        ("npm" | "yarn" | "pnpm" | "bun" | "make" | "just", _) => {
            first.contains("lint") || second.contains("lint")
        }
        (name, "-m") if name.starts_with("python") => LINTERS.contains(second),
        ("npx" | "bunx" | "uvx", _) => LINTERS.contains(first),
        ("uv" | "poetry" | "pdm" | "pipenv" | "hatch", "run") => LINTERS.contains(second),
        _ => false,
    }
}

/// Asks for a version, or whether something is there: `which x`, `x --version`, `command -v x`, `pip show x`.
pub(super) fn is_probe(simple: &Simple) -> bool {
    let words = &simple.words;
    let text = |at: usize| words.get(at).map_or("", |w| w.text.as_str());
    match simple.name() {
        "which" | "type" | "whereis" | "hash" => true,
        "command" => matches!(text(1), "-v" | "-V"),
        "pip" | "pip3" | "uv" => text(1) == "show" || text(2) == "show",
        "dpkg" => matches!(text(1), "-l" | "-s" | "-L"),
        "apt" | "apt-cache" => matches!(text(1), "show" | "policy" | "search" | "list"),
        _ => {
            words.len() == 2 && matches!(text(1), "--version" | "-V" | "-version" | "--help")
                || words.len() == 2 && text(1) == "version"
        }
    }
}
