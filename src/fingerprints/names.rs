//! Tool names as they compare (A11): case and `_`, `-`, `.` do not count.

use smallvec::SmallVec;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::model::ToolIdentity;

/// A folded name; most stay on the stack.
pub type FoldedName = SmallVec<[u8; 32]>;

/// The name in lower case without `_`, `-`, `.` and blanks, as UTF-8 bytes.
pub fn fold_name(name: &str) -> FoldedName {
    let mut folded = FoldedName::new();
    if name.is_ascii() {
        fold_into(name.as_bytes(), &mut folded);
    } else {
        for c in name.chars().flat_map(char::to_lowercase) {
            if !matches!(c, '_' | '-' | '.' | ' ') {
                folded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    folded
}

/// Whether two names fold to the same.
pub fn same_name(a: &str, b: &str) -> bool {
    a == b || fold_name(a) == fold_name(b)
}

/// Hash of the folded name, for look-ups.
pub fn name_hash(name: &str) -> u64 {
    xxh3_64(&fold_name(name))
}

/// The name in the three readings in which it is looked up in definitions.
pub fn identity(name: &str) -> ToolIdentity {
    ToolIdentity {
        exact: xxh3_64_with_seed(name.as_bytes(), 1),
        folded: xxh3_64_with_seed(&fold_name(name), 2),
        bare: xxh3_64_with_seed(&fold_name(without_server(name)), 3),
    }
}

/// The name without the prefix that a tool server adds: `mcp__server__tool`, `server:tool`,
/// `server/tool`, `server.tool`. The name itself when there is none.
pub fn without_server(name: &str) -> &str {
    if let Some(rest) = name
        .strip_prefix("mcp__")
        .or_else(|| name.strip_prefix("mcp_"))
    {
        return match rest.split_once("__") {
            Some((_, tool)) if !tool.is_empty() => tool,
            _ => name,
        };
    }
    match name.rsplit_once([':', '/', '.']) {
        Some((_, tool)) if !tool.is_empty() => tool,
        _ => name,
    }
}

/// Appends ASCII bytes in lower case without `_`, `-`, `.` and blanks; other bytes as they are.
pub(super) fn fold_into<const N: usize>(name: &[u8], out: &mut SmallVec<[u8; N]>)
where
    [u8; N]: smallvec::Array<Item = u8>,
{
    let kept = |byte: &&u8| !matches!(byte, b'_' | b'-' | b'.' | b' ');
    out.extend(name.iter().filter(kept).map(u8::to_ascii_lowercase));
}

/// The words of an identifier: `createdAt`, `created_at`, `HTTPServer` -> `HTTP`, `Server`.
pub(super) fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let end = word_end(rest)?;
        let (word, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(word)
    })
}

fn word_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, mut previous) = chars.next()?;
    while let Some((at, c)) = chars.next() {
        let next_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let starts = c.is_uppercase() && (!previous.is_uppercase() || next_lower);
        if !c.is_alphanumeric() || starts || c.is_ascii_digit() != previous.is_ascii_digit() {
            return Some(at);
        }
        previous = c;
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold() {
        assert!(same_name("Read_File", "readFile"));
        assert!(same_name("web.search", "web-search"));
        assert!(!same_name("read", "write"));
        assert!(same_name("\u{c9}tude_A", "\u{e9}tudea"));
        assert_eq!(name_hash("A_b"), name_hash("ab"));
    }

    #[test]
    fn server_prefixes() {
        assert_eq!(without_server("mcp__github__create_issue"), "create_issue");
        assert_eq!(without_server("calendar.list"), "list");
        assert_eq!(without_server("plain"), "plain");
        assert_eq!(without_server("mcp__odd"), "mcp__odd");
        assert_eq!(without_server("end."), "end.");
    }

    #[test]
    fn identifiers_have_words() {
        let all = |name| words(name).collect::<Vec<_>>();
        assert_eq!(all("startedAt"), ["started", "At"]);
        assert_eq!(all("duration_ms"), ["duration", "ms"]);
        assert_eq!(all("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(all("p95ms"), ["p", "95", "ms"]);
        assert_eq!(all("__"), Vec::<&str>::new());
    }
}
