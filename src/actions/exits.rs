//! What an exit code means, given the command that it belongs to.

use super::prefixes;
use super::script::{Script, Simple, Word, Words};
use super::walk;

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

/// Commands whose exit 1 says no: no match, differs, not there.
const ANSWERS: Words = Words(
    "grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep zstdgrep pcregrep pcre2grep ugrep rg ripgrep rga ag \
     ack findstr diff diff3 sdiff wdiff colordiff zdiff bzdiff xzdiff cmp zcmp bzcmp xzcmp test [ [[ pgrep \
     pkill pidof fuser which where type hash comm expr let false look locate plocate mlocate whereis findmnt \
     mountpoint nc lsof",
);

/// Commands that do not fail, so that a failure is that of another one.
const SURE: Words = Words("echo printf true : pwd date sleep");

/// Commands that do not fail over what comes through a pipe.
const SURE_IN_PIPES: Words = Words(
    "head tail wc sort uniq tr cut sed awk gawk mawk cat nl tee column rev paste fold less more tac",
);

/// Deepest `find -exec sh -c 'find -exec ...'`.
const INSIDE_MAX: u32 = 2;

/// Commands that report findings by their exit code.
const LINTERS: Words = Words(
    "ruff flake8 pylint mypy pyright black isort bandit eslint tslint prettier stylelint biome \
     shellcheck golangci-lint staticcheck govet rubocop hadolint yamllint markdownlint \
     clang-tidy cppcheck ktlint swiftlint phpstan psalm phpcs actionlint codespell pycodestyle \
     pydocstyle vulture semgrep detekt standard xo oxlint rustfmt gofmt shfmt djlint sqlfluff \
     ansible-lint tflint pyflakes",
);

/// What the exit code of a call means, by the command whose status it is. `silent` says that the call is
/// marked as failed without a code and without a word: a command that says no by 1 does that.
pub(super) fn meaning(script: &Script, exit_code: Option<i32>, silent: bool) -> ExitMeaning {
    let code = match exit_code {
        None if silent => 1,
        None | Some(0) => return ExitMeaning::Plain,
        Some(code) => code,
    };
    let limited = || script.runs().any(|run| run.limited);
    let kills = |run: &Simple| matches!(run.name(), "kill" | "pkill" | "killall" | "wait");
    if matches!(code, 124 | 130 | 137 | 143) && (limited() || script.runs().any(kills)) {
        return ExitMeaning::Stopped;
    }
    let Some(last) = deciding(script) else {
        return ExitMeaning::Plain;
    };
    if says_no(last, code, silent, 0) {
        return ExitMeaning::Answer;
    }
    if is_probe(last) {
        return ExitMeaning::Probe;
    }
    if silent {
        return ExitMeaning::Plain;
    }
    let argument = |at: usize| last.words.get(at).map_or("", |w| w.text.as_str());
    let name = last.name();
    if code < 126 && (LINTERS.contains(name) || runs_linter(name, argument(1), argument(2))) {
        return ExitMeaning::Findings;
    }
    ExitMeaning::Plain
}

/// What the exit code of a tool that is no shell means: one that is named after a searching command hands
/// on what that says.
pub(super) fn of_tool(tool: &str, exit_code: Option<i32>) -> ExitMeaning {
    const SEARCH: Words = Words("grep rg ripgrep ag ack diff findstr pgrep");
    let searches = || {
        tool.split(|c: char| !c.is_alphanumeric())
            .any(|word| SEARCH.contains(&word.to_ascii_lowercase()))
    };
    if exit_code == Some(1) && searches() {
        ExitMeaning::Answer
    } else {
        ExitMeaning::Plain
    }
}

/// The command whose status a failure of the script is: the last one that may decide it and may fail.
fn deciding(script: &Script) -> Option<&Simple> {
    let fails = |run: &&Simple| {
        let name = run.name();
        !(name.is_empty() || SURE.contains(name) || (run.piped && SURE_IN_PIPES.contains(name)))
    };
    script.runs().filter(|run| run.ends).filter(fails).last()
}

/// Whether a command says no by this code.
fn says_no(simple: &Simple, code: i32, silent: bool, inside: u32) -> bool {
    let name = simple.name();
    let first = || simple.words.get(1).map_or("", |word| word.text.as_str());
    let has = |flags: &[&str]| {
        simple
            .words
            .iter()
            .any(|word| flags.contains(&word.text.as_str()))
    };
    // `xargs` says 123 when what it ran said 1.
    let code = if code == 123 { 1 } else { code };
    match name {
        "git" => git_says_no(simple, code, has),
        "jq" => matches!(code, 1 | 4) && has(&["-e", "--exit-status"]),
        "systemctl" => code < 5 && matches!(first(), "is-active" | "is-enabled" | "is-failed"),
        "getent" => code == 2,
        "busybox" | "toybox" => {
            let applet = Simple {
                words: simple.words.get(1..).unwrap_or_default().to_vec(),
                ..Simple::default()
            };
            code == 1 && ANSWERS.contains(applet.name())
        }
        "find" | "gfind" | "fd" | "fdfind" => {
            code == 1 && inside < INSIDE_MAX && executed_says_no(simple, silent, inside)
        }
        name => code == 1 && ANSWERS.contains(name),
    }
}

/// `find -exec grep x {} +` hands on that nothing was found. With `;` it does not: what fails is `find`
/// itself, and that never without a word.
fn executed_says_no(find: &Simple, silent: bool, inside: u32) -> bool {
    let words = &find.words;
    let runs = |word: &Word| {
        matches!(
            word.text.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let Some(at) = words.iter().position(runs) else {
        return false;
    };
    let rest = words.get(at + 1..).unwrap_or_default();
    let end = rest
        .iter()
        .position(|word| matches!(word.text.as_str(), ";" | "+" | "\\;"));
    let ends_in = end
        .and_then(|end| rest.get(end))
        .map(|word| word.text.as_str());
    let of_find = words
        .get(at)
        .is_some_and(|word| !word.text.starts_with("--") && word.text.len() > 2);
    if of_find && ends_in != Some("+") && !silent {
        return false;
    }
    let executed = prefixes::strip(Simple {
        words: rest
            .get(..end.unwrap_or(rest.len()))
            .unwrap_or_default()
            .to_vec(),
        ..Simple::default()
    });
    match prefixes::inner_shell(&executed) {
        Some(text) => {
            deciding(&walk::script(&text)).is_some_and(|last| says_no(last, 1, silent, inside + 1))
        }
        None => says_no(&executed, 1, silent, inside + 1),
    }
}

fn git_says_no(simple: &Simple, code: i32, has: impl Fn(&[&str]) -> bool) -> bool {
    let verb = super::git::verb(&simple.words).map_or("", |(_, verb)| verb);
    match verb {
        "grep" | "check-ignore" | "check-ref-format" | "config" | "merge-base" | "show-ref"
        | "symbolic-ref" | "rev-parse" => code == 1,
        "diff" | "diff-index" | "diff-files" | "diff-tree" => {
            (code == 1 && has(&["--quiet", "--exit-code", "--no-index"]))
                || (matches!(code, 1 | 2) && has(&["--check"]))
        }
        "ls-files" => code == 1 && has(&["--error-unmatch"]),
        "cat-file" => code == 1 && has(&["-e"]),
        "ls-remote" => code == 2 && has(&["--exit-code"]),
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str, code: Option<i32>) -> ExitMeaning {
        meaning(&walk::script(command), code, code.is_none())
    }

    #[test]
    fn one_of_a_searching_command_is_an_answer_however_it_is_run() {
        for command in [
            "grep -rn foo src",
            "cat a | grep foo",
            "zgrep foo a.gz",
            "/usr/bin/rg foo",
            "timeout 5 ag foo",
            "sudo env LC_ALL=C grep foo a",
            "bash -lc 'cd /app && grep -n foo a.py'",
            "docker exec web grep foo /etc/hosts",
            "busybox grep foo a",
            "git grep foo",
            "git -C /app diff --quiet",
            "diff a b",
            "cmp -s a b",
            "[ -f a ]",
            "[[ -n $x ]]",
            "(( x > 3 ))",
            "test -f a && echo there",
            "grep -q foo a && echo found",
            "! grep -q foo a",
            "! grep -q foo a && echo none",
            "grep foo a || grep foo b",
            "grep -q foo a || exit 1",
            "grep -q foo a || { echo missing; exit 1; }",
            "set -o pipefail; grep foo a | sort | head -3",
            "for f in a b; do grep foo $f; done",
            "cat l | while read f; do grep foo $f; done",
            "if true; then grep foo a; fi",
            "(cd /app; grep foo a)",
            "{ grep foo a; }",
            "pgrep -f server",
            "pkill -f server",
            "find . -name '*.c' -exec grep -l foo {} +",
            "find . -exec env LC_ALL=C grep foo {} +",
            "find . -name '*.c' -exec sh -c 'grep foo \"$@\"' _ {} +",
            "fd -e c -x grep foo",
            "find . -print0 | xargs -0 grep foo",
        ] {
            assert_eq!(of(command, Some(1)), ExitMeaning::Answer, "{command}");
            // Marked as failed, and not a word.
            assert_eq!(of(command, None), ExitMeaning::Answer, "{command}");
        }
        assert_eq!(
            of("find . | xargs grep foo", Some(123)),
            ExitMeaning::Answer
        );
        assert_eq!(of("jq -e .a b.json", Some(4)), ExitMeaning::Answer);
        assert_eq!(of("systemctl is-active web", Some(3)), ExitMeaning::Answer);
    }

    #[test]
    fn what_fails_is_no_answer() {
        for (command, code) in [
            ("grep foo missing", Some(2)),
            ("grep foo a | python -", Some(1)),
            ("grep foo a; make", Some(1)),
            ("grep foo a && make", Some(1)),
            ("make && echo ok", Some(1)),
            ("find /nowhere -exec grep foo {} \\;", Some(1)),
            ("find /nowhere -name x", Some(1)),
            ("find . -exec rm {} +", Some(1)),
            ("git commit -m x", Some(1)),
            ("git diff", Some(1)),
            ("diff a b", Some(2)),
            ("xargs rm", Some(123)),
            ("f() { grep foo a; }; make", Some(1)),
            ("python x.py", None),
            ("ls", None),
        ] {
            assert_eq!(of(command, code), ExitMeaning::Plain, "{command}");
        }
        assert_eq!(of("grep foo a", Some(0)), ExitMeaning::Plain);
        assert_eq!(
            of("for f in a b; do flake8 $f; done", Some(1)),
            ExitMeaning::Findings
        );
    }

    #[test]
    fn tools_named_after_a_searching_command() {
        assert_eq!(
            of_tool("mcp__fs__grep-search", Some(1)),
            ExitMeaning::Answer
        );
        assert_eq!(of_tool("Grep", Some(1)), ExitMeaning::Answer);
        assert_eq!(of_tool("grep", Some(2)), ExitMeaning::Plain);
        assert_eq!(of_tool("write_file", Some(1)), ExitMeaning::Plain);
    }
}
