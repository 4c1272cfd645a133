//! Where an agent may write, and where a path really leads once links are followed.
//!
//! Invariant: nothing is looked up: only links that were seen being made are followed, and what leads round
//! in a circle, or cannot be known, lies nowhere.

use super::{Name, Scope, Write};

/// Most links followed on the way to one path, as systems have it.
const MOST_LINKS: usize = 40;

/// Trees for things that are thrown away.
const TEMP_TREES: &[&str] = &["/tmp", "/var/tmp", "/var/folders", "/dev/shm", "/run/user"];
/// Parts of Windows paths below which things are thrown away, in lower case.
const WINDOWS_TEMP_TREES: &[&str] = &["/appdata/local/temp", "/windows/temp", ":/temp", ":/tmp"];

/// Where an agent may write. Paths are normalised and absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The workspace: one directory, or several.
    pub roots: Vec<Name>,
    /// Directories outside of it that may be written to.
    pub allowed: Vec<Name>,
    /// Without a root: the workspace is what the run itself names.
    pub infer: bool,
}

/// A link that the agent made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLink {
    /// Where it lies: normalised, absolute.
    pub path: Name,
    /// What it holds, as written: absolute, or relative to its own directory. `None`: it was taken away.
    pub target: Option<Name>,
}

/// Where writes lie, and the first directory on the way to one outside that does not hold the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Where they lie.
    pub scope: Scope,
    /// The directory to report.
    pub outside: Option<String>,
    /// A link led there.
    pub by_link: bool,
}

impl Places {
    /// Places writes. `links` in the order in which they were made; `inferred` is the root that the run named.
    pub fn place(&self, writes: &[Write], links: &[FileLink], inferred: Option<&str>) -> Placed {
        let mut placed = Placed::default();
        let real = |path: &str| follow(path, links, true).unwrap_or_else(|| path.to_owned());
        let given = self.roots.iter().map(|root| &**root);
        let roots: Vec<String> = match inferred.filter(|_| self.roots.is_empty()) {
            Some(root) => vec![real(root)],
            None => given.map(real).collect(),
        };
        let allowed: Vec<String> = self.allowed.iter().map(|dir| real(dir)).collect();
        for write in writes.iter().filter(|write| !write.away) {
            let path = write.dotted.as_deref().unwrap_or(&write.path);
            let Some(led) = follow(path, links, !write.deletes) else {
                placed.scope = Scope::Unknown;
                continue;
            };
            let moved = !links.is_empty() && *led != *write.path;
            let led = if links.is_empty() {
                write.path.to_string()
            } else {
                led
            };
            if is_temp(&led) || (write.temp && !moved) {
                continue;
            }
            if write.unresolved {
                placed.scope = Scope::Unknown;
                continue;
            }
            let Some(root) = roots.first() else {
                placed.scope = if self.infer {
                    Scope::Open
                } else {
                    Scope::NoWorkspace
                };
                return placed;
            };
            let inside = || roots.iter().chain(&allowed).any(|dir| within(&led, dir));
            // Without a directory to start from a relative path is inside, unless it climbs.
            if !is_absolute(&led) {
                let climbs = led.starts_with("..");
                placed.scope = match (placed.scope, climbs) {
                    (Scope::NoWrite, false) => Scope::Inside,
                    (_, true) => Scope::Unknown,
                    (scope, false) => scope,
                };
            } else if !inside() {
                return Placed {
                    scope: Scope::Outside,
                    outside: Some(first_outside(&led, root).to_owned()),
                    by_link: moved,
                };
            } else if placed.scope == Scope::NoWrite {
                placed.scope = Scope::Inside;
            }
        }
        placed
    }
}

/// Whether a path begins at a root, of a drive too.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..2) == Some(":")
}

/// Why a directory as it is configured can be no place of its own: it is not absolute, or it is everything there
/// is. `home` is what `~` stands for.
pub fn unusable_directory(text: &str, home: Option<&str>) -> Option<&'static str> {
    let mut path = text.replace('\\', "/");
    if let Some(rest) = text.strip_prefix('~') {
        match home {
            _ if !rest.is_empty() && !rest.starts_with(['/', '\\']) => {
                return Some("is the home of somebody who is not known");
            }
            None => return Some("stands for `workspace.home`, which is not set"),
            Some(home) => path = format!("{home}/{rest}").replace('\\', "/"),
        }
    }
    let drive = path.starts_with(|c: char| c.is_ascii_alphabetic()) && path.get(1..2) == Some(":");
    let rest = if drive { path.get(2..) } else { path.get(..) };
    let rest = rest.unwrap_or_default();
    let absolute = rest.starts_with('/') || (drive && rest.is_empty());
    if !absolute {
        return Some("is no absolute directory");
    }
    let depth = rest.split('/').fold(0usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    (depth == 0).then_some("is everything there is: no write could lie outside of it")
}

/// Whether a normalised path lies in a temp tree.
pub fn is_temp(path: &str) -> bool {
    let below = |tree: &str| {
        path.strip_prefix(tree)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let on_drive = || {
        path.get(1..2) == Some(":")
            && WINDOWS_TEMP_TREES.iter().any(|tree| {
                path.find(tree).is_some_and(|at| {
                    let rest = path.get(at + tree.len()..).unwrap_or_default();
                    rest.is_empty() || rest.starts_with('/')
                })
            })
    };
    TEMP_TREES.iter().any(|tree| below(tree)) || on_drive()
}

/// Whether a normalised path is a directory or lies below it, by whole parts.
pub fn within(path: &str, dir: &str) -> bool {
    dir == "/"
        || path
            .strip_prefix(dir)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The first directory on the way to a path that does not hold the workspace.
pub fn first_outside<'a>(path: &'a str, workspace: &str) -> &'a str {
    let mut shared = 0;
    let mut at = 0;
    for (left, right) in path.split('/').zip(workspace.split('/')) {
        if left != right {
            break;
        }
        at += left.len();
        shared = at;
        at += 1;
    }
    let from = shared + 1;
    let end = path
        .get(from..)
        .and_then(|rest| rest.find('/'))
        .map(|at| from + at);
    match end {
        Some(end) => path.get(..end).unwrap_or(path),
        // The file itself lies in a directory that holds the workspace.
        None => match path.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((dir, _)) => dir,
            None => path,
        },
    }
}

/// The path without links and dots. `last`: a link in the last place is followed too. `None` when it leads
/// round in a circle. Paths that are not absolute, and those of drives, stay as they are.
fn follow(path: &str, links: &[FileLink], last: bool) -> Option<String> {
    if links.is_empty() || !path.starts_with('/') {
        return Some(path.to_owned());
    }
    let mut todo: Vec<&str> = parts(path).rev().collect();
    let mut done: Vec<&str> = Vec::new();
    let mut followed = 0;
    while let Some(part) = todo.pop() {
        if part == ".." {
            done.pop();
            continue;
        }
        done.push(part);
        if todo.is_empty() && !last {
            break;
        }
        let Some(target) = target_of(&done, links) else {
            continue;
        };
        followed += 1;
        if followed > MOST_LINKS {
            return None;
        }
        if target.starts_with('/') {
            done.clear();
        } else {
            done.pop();
        }
        todo.extend(parts(target).rev());
    }
    Some(format!("/{}", done.join("/")))
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
}

/// What the link at a path holds, by the last word said of it.
fn target_of<'l>(path: &[&str], links: &'l [FileLink]) -> Option<&'l str> {
    let same = |link: &&FileLink| parts(&link.path).eq(path.iter().copied());
    links.iter().rev().find(same)?.target.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(path: &str, target: &str) -> FileLink {
        FileLink {
            path: path.into(),
            target: Some(target.into()),
        }
    }

    fn write(path: &str) -> Write {
        Write {
            path: path.into(),
            dotted: path.contains("..").then(|| path.into()),
            deletes: false,
            temp: is_temp(path),
            unresolved: false,
            whole_file: false,
            away: false,
        }
    }

    /// The tree of the source's vectors 057 to 061.
    fn tree() -> Vec<FileLink> {
        vec![
            link("/r/ws/link", "/r/out"),
            link("/r/ws/inner", "real"),
            link("/r/wslink", "ws"),
            link("/r/allowed/esc", "/r/out"),
            link("/r/ws/loop", "loop"),
        ]
    }

    fn scopes(root: &str, allowed: &[&str], paths: &[&str]) -> Vec<Scope> {
        let places = Places {
            roots: vec![root.into()],
            allowed: allowed.iter().map(|dir| (*dir).into()).collect(),
            infer: false,
        };
        paths
            .iter()
            .map(|path| places.place(&[write(path)], &tree(), None).scope)
            .collect()
    }

    #[test]
    fn a15_links_are_followed_as_the_source_follows_them() {
        use Scope::{Inside, Outside, Unknown};
        for (root, allowed, paths, expected) in [
            (
                "/r/ws",
                &[][..],
                &["/r/ws/link/a", "/r/ws/inner/a", "/r/ws/link/../a"][..],
                &[Outside, Inside, Outside][..],
            ),
            (
                "/r/wslink",
                &[],
                &["/r/wslink/a", "/r/ws/a", "/r/out/a"],
                &[Inside, Inside, Outside],
            ),
            (
                "/r/ws",
                &["/r/allowed"],
                &["/r/allowed/a", "/r/allowed/esc/a"],
                &[Inside, Outside],
            ),
            (
                "/r/ws",
                &["/r/ws/link"],
                &["/r/out/a", "/r/ws/link/b"],
                &[Inside, Inside],
            ),
            ("/r/ws", &[], &["/r/ws/loop/a"], &[Unknown]),
        ] {
            assert_eq!(scopes(root, allowed, paths), expected, "{paths:?}");
        }
    }

    #[test]
    fn a15_a_link_that_is_taken_away_leads_nowhere() {
        let mut links = vec![link("/w/x", "/etc")];
        let places = Places {
            roots: vec!["/w".into()],
            ..Places::default()
        };
        let placed = places.place(&[write("/w/x/passwd")], &links, None);
        assert_eq!((placed.scope, placed.by_link), (Scope::Outside, true));
        assert_eq!(placed.outside.as_deref(), Some("/etc"));
        // The link itself is what a delete takes away.
        let delete = Write {
            deletes: true,
            ..write("/w/x")
        };
        assert_eq!(places.place(&[delete], &links, None).scope, Scope::Inside);
        links.push(FileLink {
            path: "/w/x".into(),
            target: None,
        });
        assert_eq!(
            places.place(&[write("/w/x/passwd")], &links, None).scope,
            Scope::Inside
        );
    }

    #[test]
    fn a15_temp_trees_are_temp_behind_links_alone() {
        let places = Places {
            roots: vec!["/w".into()],
            ..Places::default()
        };
        let links = [link("/w/build", "/tmp/b"), link("/tmp/e", "/etc")];
        assert_eq!(
            places.place(&[write("/w/build/x")], &links, None).scope,
            Scope::NoWrite
        );
        assert_eq!(
            places.place(&[write("/tmp/e/x")], &links, None).scope,
            Scope::Outside
        );
        assert_eq!(
            places.place(&[write("/tmp/x")], &links, None).scope,
            Scope::NoWrite
        );
    }

    #[test]
    fn a15_an_inferred_root_counts_when_none_is_given() {
        let places = Places {
            infer: true,
            ..Places::default()
        };
        assert_eq!(places.place(&[write("/w/a")], &[], None).scope, Scope::Open);
        for (path, scope) in [
            ("/w/a", Scope::Inside),
            ("/x/a", Scope::Outside),
            ("a", Scope::Inside),
            ("../a", Scope::Unknown),
        ] {
            assert_eq!(
                places.place(&[write(path)], &[], Some("/w")).scope,
                scope,
                "{path}"
            );
        }
    }

    #[test]
    fn directories_that_are_of_no_use() {
        for (text, home, usable) in [
            ("/srv/agent", None, true),
            ("/srv/../srv", None, true),
            ("C:\\agent", None, true),
            ("~/work", Some("/home/a"), true),
            ("~", Some("/home/a"), true),
            ("/", None, false),
            ("//", None, false),
            ("/srv/..", None, false),
            ("C:\\", None, false),
            ("c:/", None, false),
            ("C:", None, false),
            ("C:agent", None, false),
            ("~", None, false),
            ("~/work", None, false),
            ("~", Some("/"), false),
            ("~bob/work", Some("/home/a"), false),
            ("work", None, false),
            ("./work", None, false),
            ("", None, false),
        ] {
            assert_eq!(unusable_directory(text, home).is_none(), usable, "{text}");
        }
    }
}
