//! Whether an edit touches nothing but comments, docstrings and blank lines (A14).
//!
//! Invariant: what is not known to be a comment is code. A comment that tools read (`noqa`, `@ts-ignore`,
//! `go:build`, a doctest) is code as well.

use super::script::Words;

/// Longest text that is compared, in bytes.
pub(super) const MAX: usize = 16 << 10;

/// How a language writes comments, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    /// What begins a comment of one line.
    line: &'static str,
    /// `/* ... */`.
    blocks: bool,
    /// Texts in triple quotes that stand alone are docstrings.
    docstrings: bool,
}

/// Endings of files whose comments begin with `//`.
const SLASHES: Words = Words(
    "rs js jsx ts tsx mjs cjs go java c h cc cpp cxx hpp hh cs swift kt kts scala php dart m mm zig groovy gradle \
     proto scss less v sv sol",
);
/// Endings of files whose comments begin with `#`.
const HASHES: Words =
    Words("py pyi pyx rb sh bash zsh yml yaml toml r pl pm jl ex exs nim cfg conf tf mk cmake");
/// Endings of files whose comments begin with `--`.
const DASHES: Words = Words("sql lua hs elm adb ads vhdl");

/// Parts of comments that programs read.
const READ: &[&str] = &[
    "noqa",
    "type:",
    "pragma",
    "eslint",
    "@ts-",
    "go:",
    "+build",
    "pylint",
    "mypy",
    "coding",
    "fmt:",
    "nolint",
    "istanbul",
    "clang-format",
    "#!",
    "cython",
    "ruff:",
    "jshint",
    "sourcemappingurl",
    "@flow",
    "@jsx",
    "cgo",
    "ktlint",
    "rubocop",
    "phpcs",
    "phpstan",
    "shellcheck",
    "yaml-language",
    "$schema",
    "nosec",
    "tslint",
    "biome-",
    "prettier-",
    "webpack",
    "vite-",
    "frozen_string",
];

fn style(path: &str) -> Option<Style> {
    let name = path.rsplit(['/', '\\']).next()?;
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    let line = |line| Style {
        line,
        ..Style::default()
    };
    if SLASHES.contains(&ending) {
        return Some(Style {
            blocks: true,
            ..line("//")
        });
    }
    if HASHES.contains(&ending) {
        return Some(Style {
            docstrings: matches!(ending.as_str(), "py" | "pyi" | "pyx"),
            ..line("#")
        });
    }
    if DASHES.contains(&ending) {
        return Some(line("--"));
    }
    (ending == "css").then(|| Style {
        blocks: true,
        ..Style::default()
    })
}

/// Whether two texts of a file differ in comments, docstrings and blank lines only.
pub(super) fn only_comments_differ(path: &str, old: &str, new: &str) -> bool {
    if old.len() > MAX || new.len() > MAX {
        return false;
    }
    let Some(style) = style(path) else {
        return false;
    };
    matches!((code(old, style), code(new, style)), (Some(old), Some(new)) if old == new)
}

/// The lines of code of a text; `None` when a comment or docstring is cut, or read by a program.
fn code(text: &str, style: Style) -> Option<Vec<&str>> {
    let mut lines: Vec<&str> = Vec::new();
    let mut within: Option<&str> = None;
    for raw in text.lines() {
        let line = raw.trim();
        if let Some(end) = within {
            if read_by_programs(line) {
                return None;
            }
            if let Some((_, after)) = line.split_once(end) {
                // Code behind the end, or a method of the text: no docstring.
                if !after.trim().is_empty() {
                    return None;
                }
                within = None;
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        if !style.line.is_empty() && line.starts_with(style.line) {
            if read_by_programs(line) {
                return None;
            }
            continue;
        }
        let opened = if style.blocks && line.starts_with("/*") {
            Some((line.get(2..)?, "*/"))
        } else if style.docstrings {
            docstring(line).filter(|_| lines.last().is_none_or(|last| opens_a_body(last)))
        } else {
            None
        };
        let Some((rest, end)) = opened else {
            lines.push(without_tail(raw.trim_end(), style)?);
            continue;
        };
        if read_by_programs(rest) {
            return None;
        }
        match rest.split_once(end) {
            Some((_, after)) if after.trim().is_empty() => {}
            Some(_) => return None,
            None => within = Some(end),
        }
    }
    within.is_none().then_some(lines)
}

/// What follows the quotes that open a docstring, and what closes it.
fn docstring(line: &str) -> Option<(&str, &'static str)> {
    let bare = line.trim_start_matches(['r', 'R', 'u', 'U']);
    ["\"\"\"", "'''"]
        .into_iter()
        .find_map(|quotes| Some((bare.strip_prefix(quotes)?, quotes)))
}

/// Whether a line is the head of a function or class, after which a docstring may stand.
fn opens_a_body(line: &str) -> bool {
    line.trim_end().ends_with(':')
}

/// A line without the comment at its end. `None` when that comment is read by programs.
fn without_tail(line: &str, style: Style) -> Option<&str> {
    if style.line.is_empty() || line.contains(['"', '\'', '`']) {
        return Some(line);
    }
    let mark = format!(" {}", style.line);
    match line.split_once(mark.as_str()) {
        Some((_, comment)) if read_by_programs(comment) => None,
        Some((code, _)) => Some(code.trim_end()),
        None => Some(line),
    }
}

fn read_by_programs(comment: &str) -> bool {
    let lower = comment.to_ascii_lowercase();
    // Examples in comments are run as tests.
    lower.contains(">>>") || lower.contains("```") || READ.iter().any(|mark| lower.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a14_edits_of_comments_alone() {
        for (path, old, new) in [
            ("a.py", "x = 1\n# a", "# b\n\nx = 1"),
            ("a.py", "x = 1  # a", "x = 1  # another"),
            ("a.py", "\"\"\"Return x.\"\"\"", "\"\"\"Return the x.\"\"\""),
            (
                "a.py",
                "def f(x):\n    \"\"\"Old.\"\"\"\n    return x",
                "def f(x):\n    \"\"\"New text\n\n    of two parts.\n    \"\"\"\n    return x",
            ),
            ("a.rs", "// a\nlet x = 1;", "// b\n// c\nlet x = 1;"),
            ("a.ts", "/**\n * Old.\n */\nf();", "/**\n * New.\n */\nf();"),
            ("a.go", "x := 1 // a", "x := 1 // b"),
            ("q.sql", "-- a\nselect 1", "-- b\nselect 1"),
            ("a.yaml", "# a\nx: 1", "x: 1"),
        ] {
            assert!(only_comments_differ(path, old, new), "{path} {old} {new}");
        }
    }

    #[test]
    fn a14_in_doubt_it_is_code() {
        for (path, old, new) in [
            ("a.py", "x = 1", "x = 2"),
            ("a.py", "if x:\n    y", "if x:\n        y"),
            ("a.py", "x = 1  # noqa", "x = 1"),
            (
                "a.py",
                "\"\"\"a\n>>> f(1)\n1\n\"\"\"",
                "\"\"\"a\n>>> f(1)\n2\n\"\"\"",
            ),
            (
                "a.py",
                "q = (\n\"\"\"select 1\"\"\"\n)",
                "q = (\n\"\"\"select 2\"\"\"\n)",
            ),
            ("a.py", "\"\"\"cut off", "\"\"\"cut off here"),
            ("a.py", "x = a // b", "x = a // c"),
            ("a.c", "#if A\nx;", "#if B\nx;"),
            ("a.rs", "#[a]\nx", "x"),
            ("a.py", "u = 'http://a # b'", "u = 'http://a # c'"),
            ("Makefile", "# a\nall:", "# b\nall:"),
            ("a.go", "//go:build linux\nx", "//go:build darwin\nx"),
            ("a.ts", "// @ts-ignore\nf()", "f()"),
            ("a.unknown", "# a", "# b"),
        ] {
            assert!(!only_comments_differ(path, old, new), "{path} {old} {new}");
        }
    }
}
