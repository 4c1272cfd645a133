//! Paths as texts: made absolute where the directory is known, dots taken out, temp trees recognised.
//!
//! Invariant: purely lexical, nothing is looked up. What cannot be known (a variable, a substitution) is
//! said to be unresolved instead of being guessed.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::is_temp;

/// Longest path that is looked at.
const MAX: usize = 4096;

/// What relative paths, `~` and variables stand for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Base<'a> {
    /// Current directory, normalised; relative when only a part is known; `None` when nothing is.
    pub(super) cwd: Option<&'a str>,
    /// Home directory.
    pub(super) home: Option<&'a str>,
    /// Variables set by the command itself.
    pub(super) variables: &'a [(String, String)],
}

/// A path after resolving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Resolved {
    /// Forward slashes, no dots, no slash at the end; relative when the directory is not known. Paths with
    /// a drive are lower case.
    pub(super) path: String,
    /// The path with its dots, where it has any.
    pub(super) dotted: Option<String>,
    /// It lies in a temp tree.
    pub(super) temp: bool,
    /// It holds a variable or a substitution that is not known.
    pub(super) unresolved: bool,
}

/// Resolves a path as a tool gets it: no shell expands it.
pub(super) fn resolve(text: &str, base: &Base<'_>) -> Resolved {
    let text = bounded(text);
    let uri = text.strip_prefix("file://").map(percent_decoded);
    let plain = uri.as_deref().unwrap_or(text);
    // `file:///C:/x` leaves a slash before the drive.
    let plain = match plain.strip_prefix('/') {
        Some(rest) if drive(rest).is_some() => rest,
        _ => plain,
    };
    let slashed = plain.replace('\\', "/");
    if let Some(rest) = slashed.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return match base.home {
            Some(home) => finish(&format!("{home}{rest}"), base.cwd, false),
            None => finish(&slashed, None, true),
        };
    }
    finish(&slashed, base.cwd, false)
}

/// Resolves a word of a shell command; `dynamic` when parts of it are expanded by the shell.
pub(super) fn resolve_word(text: &str, dynamic: bool, base: &Base<'_>) -> Resolved {
    if !dynamic {
        return resolve(text, base);
    }
    let (expanded, temp, unresolved) = match windows_temp(text) {
        Some(rest) => (format!("/tmp{rest}"), true, rest.contains('$')),
        None => expand(bounded(text), base),
    };
    // What begins with an unknown is not below the current directory.
    let nowhere = Base::default();
    let base = if unresolved && expanded.starts_with(['$', '`']) {
        &nowhere
    } else {
        base
    };
    let mut resolved = resolve(&expanded, base);
    resolved.temp |= temp;
    resolved.unresolved |= unresolved;
    resolved
}

/// What follows `$env:TEMP` or `$env:TMP`, in any case.
fn windows_temp(text: &str) -> Option<&str> {
    let rest = text
        .get(..5)
        .filter(|start| start.eq_ignore_ascii_case("$env:"))
        .and_then(|_| text.get(5..))?;
    ["temp", "tmp"].into_iter().find_map(|name| {
        rest.get(..name.len())
            .filter(|start| start.eq_ignore_ascii_case(name))
            .and_then(|_| rest.get(name.len()..))
    })
}

/// Replaces the variables that are known. The flags: it stands in the temp tree; something is unknown.
pub(super) fn expand(text: &str, base: &Base<'_>) -> (String, bool, bool) {
    let mut out = String::with_capacity(text.len());
    let (mut temp, mut unresolved) = (false, false);
    let mut rest = text;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let Some((name, after)) = variable(tail) else {
            unresolved = true;
            out.push_str(tail);
            return (out, temp, unresolved);
        };
        let own = base.variables.iter().rev().find(|(n, _)| n == name);
        match (own, name) {
            (Some((_, value)), _) => out.push_str(value),
            (None, "TMPDIR" | "TMP" | "TEMP") if out.is_empty() => {
                temp = true;
                out.push_str("/tmp");
            }
            (None, "HOME") if out.is_empty() => out.push_str(base.home.unwrap_or("~")),
            (None, "PWD") if out.is_empty() => out.push_str(base.cwd.unwrap_or(".")),
            _ => {
                unresolved = true;
                out.push_str(tail.get(..tail.len() - after.len()).unwrap_or_default());
            }
        }
        rest = after;
        if out.len() > MAX {
            return (out, temp, true);
        }
    }
    out.push_str(rest);
    (out, temp, unresolved)
}

/// `$NAME` or `${NAME}` at the beginning, and what follows.
fn variable(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('$')?;
    let (name, after) = match rest.strip_prefix('{') {
        Some(inner) => inner.split_once('}')?,
        None => {
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            rest.split_at_checked(end)?
        }
    };
    let valid = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    valid.then_some((name, after))
}

/// Joins a directory change to the current directory; `None` when it leads nobody knows where.
pub(super) fn change_directory(word: &str, dynamic: bool, base: &Base<'_>) -> Option<String> {
    if word == "-" {
        return None;
    }
    let resolved = resolve_word(word, dynamic, base);
    (!resolved.unresolved).then_some(resolved.path)
}

fn finish(path: &str, cwd: Option<&str>, unresolved: bool) -> Resolved {
    let absolute = path.starts_with('/') || drive(path).is_some();
    let joined = match cwd {
        Some(cwd) if !absolute => format!("{cwd}/{path}"),
        _ => path.to_owned(),
    };
    let path = normalise(&joined);
    Resolved {
        dotted: joined.contains("..").then_some(joined),
        temp: is_temp(&path),
        path,
        unresolved,
    }
}

/// Takes out `.`, `..` and doubled slashes; lower case under a drive letter.
pub(super) fn normalise(path: &str) -> String {
    let slashed;
    let path = if path.contains('\\') {
        slashed = path.replace('\\', "/");
        slashed.as_str()
    } else {
        path
    };
    let (root, rest) = match drive(path) {
        Some(rest) => (path.get(..2).unwrap_or_default().to_owned() + "/", rest),
        None if path.starts_with('/') => ("/".to_owned(), path),
        None => (String::new(), path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if *last != ".." => {
                    parts.pop();
                }
                _ if root.is_empty() => parts.push(".."),
                _ => {}
            },
            part => parts.push(part),
        }
    }
    let mut out = root.clone();
    out.push_str(&parts.join("/"));
    if out.is_empty() {
        out.push('.');
    }
    if root.len() == 3 {
        out = out.to_lowercase();
    }
    // One tree under two names on one system.
    match out.strip_prefix("/private") {
        Some(real) if real.starts_with("/tmp") || real.starts_with("/var/") => real.to_owned(),
        _ => out,
    }
}

/// What follows `C:` when the path names a drive.
fn drive(path: &str) -> Option<&str> {
    let rest = path.get(1..)?.strip_prefix(':')?;
    let letter = path.starts_with(|c: char| c.is_ascii_alphabetic());
    (letter && (rest.is_empty() || rest.starts_with('/') || rest.starts_with('\\'))).then_some(rest)
}

/// A hash that names a normalised path; never 0.
pub(super) fn hash(path: &str) -> u64 {
    xxh3_64(path.as_bytes()).max(1)
}

/// The directory that holds the path; `None` at the top of what is known.
pub(super) fn parent(path: &str) -> Option<&str> {
    let (dir, _) = path.rsplit_once('/')?;
    Some(if dir.is_empty() { "/" } else { dir })
}

/// The deepest directory that holds both.
pub(super) fn common<'a>(a: &'a str, b: &str) -> Option<&'a str> {
    let mut end = 0;
    let mut at = 0;
    for (left, right) in a.split('/').zip(b.split('/')) {
        if left != right {
            break;
        }
        at += left.len();
        end = at;
        at += 1;
    }
    let shared = a.get(..end)?;
    match shared {
        "" if a.starts_with('/') && b.starts_with('/') => Some("/"),
        "" => None,
        shared => Some(shared),
    }
}

fn bounded(text: &str) -> &str {
    let text = text.trim();
    text.get(..text.floor_char_boundary(MAX)).unwrap_or(text)
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(cwd: &'a str) -> Base<'a> {
        Base {
            cwd: Some(cwd),
            home: Some("/home/agent"),
            variables: &[],
        }
    }

    #[test]
    fn dots_slashes_drives_and_uris() {
        for (cwd, path, expected) in [
            ("/repo/app", "../outside.txt", "/repo/outside.txt"),
            ("/repo/app", "src/../src//./a.ts", "/repo/app/src/a.ts"),
            ("/repo/app", "/etc/../../x", "/x"),
            ("/repo/app", "~/x", "/home/agent/x"),
            (
                "/repo/app",
                "file:///repo/app/src/a%20b.ts",
                "/repo/app/src/a b.ts",
            ),
            (
                "C:\\dev\\shop",
                "c:/Dev/Shop/..\\other\\x.txt",
                "c:/dev/other/x.txt",
            ),
            ("c:/work", "C:\\WORK\\SHOP\\B.cs", "c:/work/shop/b.cs"),
            ("app", "core/x.py", "app/core/x.py"),
            ("app", "../../x.py", "../x.py"),
            ("/repo", ".", "/repo"),
            ("/repo", "/private/tmp/x", "/tmp/x"),
            ("/repo", "file:///C:/x/y", "c:/x/y"),
        ] {
            assert_eq!(resolve(path, &at(cwd)).path, expected, "{path} in {cwd}");
        }
    }

    #[test]
    fn temp_trees_and_variables() {
        let base = at("/repo");
        for path in [
            "/tmp/x",
            "/var/folders/a/b",
            "$TMPDIR/sorted",
            "${TMPDIR}/x",
            "/dev/shm/b",
        ] {
            let resolved = resolve_word(path, true, &base);
            assert!(resolved.temp && !resolved.unresolved, "{path}");
        }
        assert!(!resolve("/tmpfiles/x", &base).temp);
        assert!(resolve("C:\\Users\\a\\AppData\\Local\\Temp\\x", &base).temp);
        assert!(resolve_word("$OUT/x", true, &base).unresolved);
        assert!(resolve_word("$(mktemp)/x", true, &base).unresolved);
        assert!(!resolve_word("$OUT/x", false, &base).unresolved);
        let variables = [("OUT".to_owned(), "/srv".to_owned())];
        let base = Base {
            variables: &variables,
            ..base
        };
        assert_eq!(resolve_word("${OUT}/x", true, &base).path, "/srv/x");
        assert_eq!(resolve_word("$HOME/x", true, &base).path, "/home/agent/x");
    }

    #[test]
    fn common_directories() {
        assert_eq!(common("/a/b/c", "/a/b/d"), Some("/a/b"));
        assert_eq!(common("/a/b", "/a/bc"), Some("/a"));
        assert_eq!(common("/a", "/b"), Some("/"));
        assert_eq!(common("a", "b"), None);
        assert_eq!(parent("a/b"), Some("a"));
        assert_eq!(parent("a"), None);
        assert_eq!(parent("/a"), Some("/"));
    }
}
