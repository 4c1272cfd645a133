//! Which edits want checking, and which paths a patch touches.
//!
//! Invariant: a path is a source file unless its name says otherwise: a missed document is a needless
//! warning at worst, a missed source file would excuse an unchecked edit.

use super::comments;
use super::script::Words;

/// Endings of texts, pictures, data and logs.
const DOCUMENTS: Words = Words(
    "md mdx markdown rst adoc asciidoc org txt log out pdf png jpg jpeg gif svg webp ico csv \
     tsv parquet diff patch orig rej bak swp pyc docx xlsx pptx odt po license zip gz tar pid \
     lock~",
);

/// Stems of documents, whatever their ending.
const DOCUMENT_STEMS: Words = Words(
    "readme changelog changes history license licence copying authors contributors contributing \
     notice todo notes summary codeowners news thanks code_of_conduct security agents claude \
     gemini maintainers",
);

/// Text files that programs read.
const READ_BY_PROGRAMS: &[&str] = &[
    "cmakelists.txt",
    "requirements.txt",
    "constraints.txt",
    "robots.txt",
    "go.mod",
];

/// Trees that belong to the machine, not to a project.
const SYSTEM_TREES: &[&str] = &[
    "/etc/",
    "/var/",
    "/usr/",
    "/boot/",
    "/proc/",
    "/sys/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "c:/windows/",
];

/// What builds and tools leave behind, as a name or as a directory on the way.
const ARTEFACTS: Words = Words(
    "build dist out target __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .venv venv coverage htmlcov .coverage .next .nuxt \
     .gradle .idea .vscode",
);

/// Directories for things that are thrown away.
const SCRATCH_DIRS: &[&str] = &[
    "tmp",
    "temp",
    "scratch",
    ".scratch",
    "sandbox_tmp",
    ".tmp",
    ".cache",
    "node_modules",
    ".git",
];

/// Whether a change of this file wants checking.
pub(super) fn is_source(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut parts = lower.rsplit('/');
    let name = parts.next().unwrap_or_default();
    if READ_BY_PROGRAMS.contains(&name)
        || (name.starts_with("requirements") && name.ends_with(".txt"))
    {
        return true;
    }
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let stem = if stem.is_empty() { name } else { stem };
    let document = DOCUMENTS.contains(ending)
        || ((ending.is_empty() || ending.len() > 3 || ending == "md" || ending == "txt")
            && DOCUMENT_STEMS.contains(stem))
        || matches!(
            name,
            ".gitignore" | ".editorconfig" | ".gitattributes" | ".mailmap"
        );
    let scratch = is_scratch_name(stem) || parts.any(|dir| SCRATCH_DIRS.contains(&dir));
    // On the way only names that cannot be a project's own.
    let left = |dir: &str| {
        ARTEFACTS.contains(dir)
            && (dir.starts_with('.') || dir == "__pycache__" || dir == "htmlcov")
    };
    let artefact = ARTEFACTS.contains(name)
        || lower
            .split('/')
            .any(|dir| dir.ends_with(".egg-info") || left(dir));
    let system = SYSTEM_TREES.iter().any(|tree| lower.starts_with(tree));
    !document && !scratch && !artefact && !system
}

/// `repro.py`, `reproduce_issue.py`, `scratch.js`, `debug_x.py`.
fn is_scratch_name(stem: &str) -> bool {
    let head = stem.split(['_', '-', '.']).next().unwrap_or_default();
    let rest = stem.get(head.len()..).unwrap_or_default();
    matches!(
        head,
        "repro"
            | "reproduce"
            | "reproduction"
            | "reproducer"
            | "scratch"
            | "tmp"
            | "temp"
            | "scratchpad"
    ) || (matches!(head, "debug" | "probe" | "try") && !rest.is_empty())
}

/// What a patch does to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patched {
    /// As it stands in the patch, without the `a/` or `b/` of git.
    pub(super) path: String,
    /// It is deleted or moved away.
    pub(super) deletes: bool,
    /// It is new.
    pub(super) adds: bool,
    /// Its lines differ in comments alone.
    pub(super) comments: bool,
}

/// Lines taken out of a file and put into it by a patch.
#[derive(Default)]
struct Hunks {
    old: String,
    new: String,
}

impl Hunks {
    /// Takes a line of the patch that is no header.
    fn line(&mut self, line: &str) {
        let most = comments::MAX;
        if self.old.len() > most || self.new.len() > most {
            return;
        }
        let (mark, rest) = match line.chars().next() {
            Some(mark @ ('+' | '-' | ' ')) => (mark, line.get(1..).unwrap_or_default()),
            _ => return,
        };
        for (text, other) in [(&mut self.old, '+'), (&mut self.new, '-')] {
            if mark != other {
                text.push_str(rest);
                text.push('\n');
            }
        }
    }

    /// Judges the lines taken for a file, and begins anew.
    fn close(&mut self, file: Option<&mut Patched>) {
        let taken = std::mem::take(self);
        if let Some(file) = file
            && !(file.deletes || file.adds)
            && taken.old != taken.new
        {
            file.comments = comments::only_comments_differ(&file.path, &taken.old, &taken.new);
        }
    }
}

/// Most paths read from one patch.
const MAX_PATHS: usize = 64;

/// The paths in the headers of a patch, unified or of the `*** Update File:` kind.
pub(super) fn patched(text: &str) -> Vec<Patched> {
    let mut out: Vec<Patched> = Vec::new();
    let mut old: Option<&str> = None;
    let mut hunks = Hunks::default();
    for line in text.lines() {
        if out.len() >= MAX_PATHS {
            break;
        }
        let add = |path: &str, deletes: bool, adds: bool| Patched {
            path: path.trim().to_owned(),
            deletes,
            adds,
            comments: false,
        };
        if line.starts_with("*** ") || line.starts_with("--- ") || line.starts_with("diff ") {
            hunks.close(out.last_mut());
        }
        if let Some(path) = line.strip_prefix("*** Update File: ") {
            out.push(add(path, false, false));
        } else if let Some(path) = line.strip_prefix("*** Add File: ") {
            out.push(add(path, false, true));
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            out.push(add(path, true, false));
        } else if let Some(path) = line.strip_prefix("*** Move to: ") {
            if let Some(last) = out.last_mut() {
                last.deletes = true;
            }
            out.push(add(path, false, true));
        } else if let Some(path) = line.strip_prefix("rename from ") {
            out.push(add(path, true, false));
        } else if let Some(path) = line.strip_prefix("rename to ") {
            out.push(add(path, false, true));
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = Some(path);
        } else if let Some(path) = line.strip_prefix("+++ ")
            && let Some(old) = old.take()
        {
            let (old, new) = (side(old), side(path));
            match (old, new) {
                (Some(old), None) => out.push(add(old, true, false)),
                (None, Some(new)) => out.push(add(new, false, true)),
                (_, Some(new)) => out.push(add(new, false, false)),
                (None, None) => {}
            }
        } else {
            hunks.line(line);
        }
    }
    hunks.close(out.last_mut());
    out
}

/// The path of a `---` or `+++` line; `None` for `/dev/null`.
fn side(text: &str) -> Option<&str> {
    let path = text.split('\t').next().unwrap_or(text).trim();
    let path = path
        .strip_prefix("a/")
        .or_else(|| path.strip_prefix("b/"))
        .unwrap_or(path);
    (path != "/dev/null").then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_others() {
        for path in [
            "app/price.py",
            "src/lib.rs",
            "web/a.ts",
            "Makefile",
            "go.mod",
            "requirements.txt",
            "config.yaml",
            "docs/f0.ts",
            "tests/test_a.py",
            "a",
            "src/readme.rs",
            "security.py",
            "try.py",
            "debug.c",
        ] {
            assert!(is_source(path), "{path}");
        }
        for path in [
            "README.md",
            "CHANGELOG",
            "docs/guide.adoc",
            "notes.txt",
            "LICENSE",
            "repro.py",
            "reproduce_issue.py",
            "scratch/x.py",
            "run.log",
            "data/x.csv",
            "debug_it.py",
            "SUMMARY.md",
            ".gitignore",
        ] {
            assert!(!is_source(path), "{path}");
        }
    }

    #[test]
    fn patches() {
        let unified = "--- a/x.py\t2026\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new.py\n--- a/gone.py\n+++ /dev/null\n";
        let names: Vec<_> = patched(unified)
            .into_iter()
            .map(|p| (p.path, p.deletes, p.adds))
            .collect();
        assert_eq!(
            names,
            [
                ("x.py".to_owned(), false, false),
                ("new.py".to_owned(), false, true),
                ("gone.py".to_owned(), true, false)
            ]
        );
        let own = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Add File: c.rs\n+z\n*** Delete File: d.rs\n*** End Patch";
        let names: Vec<_> = patched(own)
            .into_iter()
            .map(|p| (p.path, p.deletes))
            .collect();
        assert_eq!(
            names,
            [
                ("a.rs".to_owned(), true),
                ("b.rs".to_owned(), false),
                ("c.rs".to_owned(), false),
                ("d.rs".to_owned(), true)
            ]
        );
    }
}
