//! How far the writes of a call reach: inside the workspace or out of it, how many, one file as a whole.
//!
//! Invariant: purely lexical; a path that cannot be known accuses of nothing. With the source's rules what is
//! read is what gptme's watchdog reads, and nothing else.

use std::sync::Arc;

use crate::model::{
    Effects, Places, Reach, Role, Scope, Write, first_outside, is_absolute, within,
};

use super::paths::{self, Base};
use super::roots::Roots;
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

/// Where calls may write: `resource` and `span` look attributes up that the workspace's template names.
pub fn places<'a>(
    settings: &Settings,
    watch: &Watch,
    working_directory: Option<&str>,
    resource: impl Fn(&str) -> Option<&'a str>,
    span: impl Fn(&str) -> Option<&'a str>,
) -> Places {
    let home = settings.workspace.home.as_deref();
    let absolute = |path: &str, cwd: Option<&str>| {
        let base = Base {
            cwd,
            home,
            variables: &[],
        };
        let resolved = paths::resolve(path, &base);
        (!resolved.unresolved && is_absolute(&resolved.path)).then_some(resolved.path)
    };
    let configured = settings.workspace.root.as_ref();
    let mut roots: Vec<String> = configured
        .map(|roots| roots.filled(resource, span))
        .unwrap_or_default()
        .iter()
        .filter_map(|root| absolute(root, None))
        .collect();
    let infers = configured.is_some_and(Roots::infers);
    if roots.is_empty() && (configured.is_none() || infers) {
        roots.extend(working_directory.map(paths::normalise));
    }
    let first = roots.first().map(String::as_str);
    let allowed = watch
        .allowed_dirs
        .iter()
        .filter_map(|dir| absolute(dir, first))
        .map(Into::into)
        .collect();
    Places {
        allowed,
        infer: infers && roots.is_empty(),
        roots: roots.into_iter().map(Into::into).collect(),
    }
}

/// What the writes of a call come to.
pub fn reach(
    call: &CallFacts<'_>,
    effects: &Effects,
    watch: &Watch,
    settings: &Settings,
    places: &Arc<Places>,
) -> Reach {
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
        if let (Some(path), Some(workspace)) = (path, places.roots.first()) {
            place_source(path, workspace, watch, &mut reach);
        }
    } else if !effects.writes.is_empty() {
        place(call, effects, settings, places, &mut reach);
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
    settings: &Settings,
    places: &Arc<Places>,
    reach: &mut Reach,
) {
    let base = Base {
        cwd: call.cwd,
        home: settings.workspace.home.as_deref(),
        variables: &[],
    };
    let real = match effects.writes.as_slice() {
        [only] => real_path(call, only, &base).map(|path| Write {
            path: path.into(),
            dotted: None,
            ..only.clone()
        }),
        _ => None,
    };
    let placed = match &real {
        Some(real) => places.place(std::slice::from_ref(real), &[], None),
        None => places.place(&effects.writes, &[], None),
    };
    reach.scope = placed.scope;
    reach.outside = placed.outside.map(Into::into);
    // What the tool itself says of where it led is not asked again.
    reach.places = real.is_none().then(|| Arc::clone(places));
}

/// A real path named in the answer wins (A15): the tool says that what it was given led somewhere else.
fn real_path(call: &CallFacts<'_>, write: &Write, base: &Base<'_>) -> Option<String> {
    if call.role != Role::Edit || write.temp {
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
        let places = Arc::new(places(&settings, &watch, cwd, |_| None, |_| None));
        reach(&call, &understood.effects, &watch, &settings, &places)
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn a15_writes_are_placed() {
        let cwd = Some("/repo/app");
        for (tool, arguments, scope, outside) in [
            (
                "bash",
                r#"{"command": "docker exec web sh -c 'echo ok > /etc/motd'"}"#,
                Scope::NoWrite,
                None,
            ),
            (
                "bash",
                r#"{"command": "kubectl exec pod -- rm -rf /var/lib/x; touch /etc/motd"}"#,
                Scope::Outside,
                Some("/etc"),
            ),
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
