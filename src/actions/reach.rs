//! How far the writes of a call reach: inside the workspace or out of it, how many, one file as a whole.
//!
//! Invariant: purely lexical; a path that cannot be known accuses of nothing. With the source's rules what is
//! read is what gptme's watchdog reads, and nothing else.

use crate::model::{Effects, Reach, Role, Scope, Write};

use super::paths::{self, Base};
use super::{CallFacts, Settings, watchdog};

/// Where writes may go, and by whose rules they are read.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Directories outside the workspace that may be written to.
    pub allowed_dirs: Vec<String>,
    /// The scope of writes is read as the source reads it.
    pub source_scope: bool,
    /// Writes are counted as the source counts them.
    pub source_writes: bool,
    /// Hosts are read as the source reads them.
    pub source_hosts: bool,
}

/// Longest first line of an answer in which a real path is looked for.
const LINE_MAX: usize = 400;
/// Words by which a tool says that the path given led somewhere else.
const REALLY: &[&str] = &[
    "given as",
    "resolved",
    "resolves to",
    "real path",
    "realpath",
    "symlink",
    "points to",
    "link to",
    "canonical",
    " -> ",
];

/// What the writes of a call come to. `call.cwd` is the workspace, where one is known.
pub fn reach(call: &CallFacts<'_>, effects: &Effects, watch: &Watch, settings: &Settings) -> Reach {
    let source = (watch.source_scope || watch.source_writes)
        .then(|| watchdog::write(call))
        .flatten();
    let mut reach = Reach::default();
    if watch.source_hosts {
        reach.source_host = watchdog::contact(call).map(Into::into);
    }
    if watch.source_writes {
        reach.writes = source.is_some().into();
    } else {
        count(effects, &mut reach);
    }
    if watch.source_scope {
        let path = source.as_ref().and_then(|write| write.path.as_deref());
        if let (Some(path), Some(workspace)) = (path, call.cwd) {
            place_source(path, workspace, watch, &mut reach);
        }
    } else {
        place(call, effects, watch, settings, &mut reach);
    }
    reach
}

fn count(effects: &Effects, reach: &mut Reach) {
    let lasting = || effects.writes.iter().filter(|write| !write.temp);
    let number = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    reach.writes = number(lasting().count());
    reach.deletes = number(lasting().filter(|write| write.deletes).count());
    if let [only] = effects.writes.as_slice()
        && only.whole_file
        && !only.temp
        && !only.deletes
        && !only.unresolved
    {
        reach.rewrites = paths::hash(&only.path);
    }
}

fn place(
    call: &CallFacts<'_>,
    effects: &Effects,
    watch: &Watch,
    settings: &Settings,
    reach: &mut Reach,
) {
    let mut writes = effects.writes.iter().filter(|write| !write.temp).peekable();
    if writes.peek().is_none() {
        return;
    }
    let Some(workspace) = call.cwd.map(paths::normalise) else {
        reach.scope = Scope::NoWorkspace;
        return;
    };
    let base = Base {
        cwd: Some(&workspace),
        home: settings.workspace.home.as_deref(),
        variables: &[],
    };
    let allowed = |path: &str| {
        within(path, &workspace)
            || watch
                .allowed_dirs
                .iter()
                .any(|dir| within(path, &paths::resolve(dir, &base).path))
    };
    reach.scope = Scope::Inside;
    for write in writes {
        let real = real_path(call, effects, write, &base);
        let path = real.as_deref().unwrap_or(&write.path);
        if write.unresolved {
            reach.scope = Scope::Unknown;
        } else if !allowed(path) {
            reach.scope = Scope::Outside;
            reach.outside = Some(first_outside(path, &workspace).into());
            return;
        }
    }
}

/// A real path named in the answer wins (A15): the tool says that what it was given led somewhere else.
fn real_path(
    call: &CallFacts<'_>,
    effects: &Effects,
    write: &Write,
    base: &Base<'_>,
) -> Option<String> {
    if call.role != Role::Edit || effects.writes.len() != 1 {
        return None;
    }
    let line = call.answer?.front.lines().next()?;
    let line = line.get(..line.floor_char_boundary(LINE_MAX))?;
    let lower = line.to_lowercase();
    let name = write.path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() || !line.contains(name) || !REALLY.iter().any(|words| lower.contains(words))
    {
        return None;
    }
    line.split(|c: char| c.is_whitespace() || "()[]{}<>'\"`,;".contains(c))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| word.len() > 1 && word.starts_with('/'))
        .map(|word| paths::resolve(word, base))
        .find(|resolved| *resolved.path != *write.path)
        .filter(|resolved| !resolved.temp)
        .map(|resolved| resolved.path)
}

/// Whether a normalised path is a directory or lies below it, by whole parts.
fn within(path: &str, dir: &str) -> bool {
    dir == "/"
        || path
            .strip_prefix(dir)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The first directory on the way to a path that does not hold the workspace.
fn first_outside<'a>(path: &'a str, workspace: &str) -> &'a str {
    let shared = paths::common(path, workspace).unwrap_or_default();
    let from = if shared == "/" { 1 } else { shared.len() + 1 };
    let end = path
        .get(from..)
        .and_then(|rest| rest.find('/'))
        .map(|at| from + at);
    match end {
        Some(end) => path.get(..end).unwrap_or(path),
        // The file itself lies in a directory that holds the workspace.
        None => paths::parent(path).unwrap_or(path),
    }
}

fn place_source(path: &str, workspace: &str, watch: &Watch, reach: &mut Reach) {
    let workspace = watchdog::resolve(path_of("/", workspace).as_str());
    let at = |path: &str| watchdog::resolve(&path_of(&workspace, path));
    let target = at(path);
    let allowed = watch.allowed_dirs.iter().map(|dir| at(dir));
    reach.scope = Scope::Inside;
    if !within(&target, &workspace) && !allowed.into_iter().any(|dir| within(&target, &dir)) {
        reach.scope = Scope::Outside;
        reach.outside = Some(first_outside(&target, &workspace).into());
    }
}

fn path_of(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{base}/{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Excerpt, Scripts, effects, role};
    use super::*;

    fn placed(cwd: Option<&str>, tool: &str, arguments: &str, answer: &str) -> Reach {
        let settings = Settings::default();
        let call = CallFacts {
            tool,
            role: role(tool, &settings),
            arguments: Some(arguments),
            answer: Some(Excerpt {
                front: answer,
                back: "",
            }),
            cwd,
            ..CallFacts::default()
        };
        let understood = effects(&call, &settings, &mut Scripts::default());
        let watch = Watch {
            allowed_dirs: vec!["/data/exports".to_owned(), "../shared".to_owned()],
            ..Watch::default()
        };
        reach(&call, &understood.effects, &watch, &settings)
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn a15_writes_are_placed() {
        let cwd = Some("/repo/app");
        for (tool, arguments, scope, outside) in [
            (
                "write_file",
                r#"{"path": "a.txt", "content": "x"}"#,
                Scope::Inside,
                None,
            ),
            (
                "write_file",
                r#"{"path": "../x.txt", "content": "x"}"#,
                Scope::Outside,
                Some("/repo"),
            ),
            (
                "write_file",
                r#"{"path": "../shared/x", "content": "x"}"#,
                Scope::Inside,
                None,
            ),
            (
                "write_file",
                r#"{"path": "/data/exports/x", "content": "x"}"#,
                Scope::Inside,
                None,
            ),
            (
                "write_file",
                r#"{"path": "/data/exports2/x", "content": "x"}"#,
                Scope::Outside,
                Some("/data"),
            ),
            (
                "write_file",
                r#"{"path": "/repo/app-evil/x/y", "content": "x"}"#,
                Scope::Outside,
                Some("/repo/app-evil"),
            ),
            (
                "bash",
                r#"{"command": "cd .. && rm -rf build"}"#,
                Scope::Outside,
                Some("/repo"),
            ),
            (
                "bash",
                r#"{"command": "cp a /etc/ssl/b"}"#,
                Scope::Outside,
                Some("/etc"),
            ),
            (
                "bash",
                r#"{"command": "echo x > $OUT/y"}"#,
                Scope::Unknown,
                None,
            ),
            (
                "bash",
                r#"{"command": "echo x > /tmp/y"}"#,
                Scope::NoWrite,
                None,
            ),
            (
                "bash",
                r#"{"command": "cat /etc/hosts"}"#,
                Scope::NoWrite,
                None,
            ),
            (
                "read_file",
                r#"{"path": "/etc/hosts"}"#,
                Scope::NoWrite,
                None,
            ),
        ] {
            let reach = placed(cwd, tool, arguments, "ok");
            assert_eq!(
                (reach.scope, reach.outside.as_deref()),
                (scope, outside),
                "{arguments}"
            );
        }
        let nowhere = placed(
            None,
            "write_file",
            r#"{"path": "/a", "content": "x"}"#,
            "ok",
        );
        assert_eq!(nowhere.scope, Scope::NoWorkspace);
    }

    #[test]
    fn a15_a_real_path_in_the_answer_wins() {
        let edit = r#"{"path": "memo.txt", "old": "a", "new": "b"}"#;
        for (answer, scope) in [
            (
                "changed 3 places in /srv/x/ledger (given as /repo/memo.txt)",
                Scope::Outside,
            ),
            (
                "wrote memo.txt, resolved to /repo/docs/memo.txt",
                Scope::Inside,
            ),
            ("wrote /repo/memo.txt; see /usr/share/doc", Scope::Inside),
        ] {
            let reach = placed(Some("/repo"), "edit_file", edit, answer);
            assert_eq!(reach.scope, scope, "{answer}");
        }
    }

    #[test]
    fn a16_writes_deletes_and_rewrites_are_counted() {
        let command = |text: &str| {
            let arguments = format!(r#"{{"command": "{text}"}}"#);
            let reach = placed(Some("/repo"), "bash", &arguments, "");
            (reach.writes, reach.deletes, reach.rewrites != 0)
        };
        assert_eq!(command("rm a b c"), (3, 3, false));
        assert_eq!(command("mv a b"), (2, 1, false));
        assert_eq!(command("echo x > /tmp/a"), (0, 0, false));
        let write = placed(
            Some("/repo"),
            "write_file",
            r#"{"path": "a", "content": "x"}"#,
            "",
        );
        assert_eq!((write.writes, write.deletes), (1, 0));
        assert_ne!(write.rewrites, 0);
    }
}
