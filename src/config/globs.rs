//! Names that may hold `*` and other wildcards.

use globset::{Glob, GlobMatcher};

use super::problems::Problems;
use super::report::Problem;
use super::tree::Node;

/// A glob, case as written; `None` when everything is meant, or when it is none: then that is reported.
pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<GlobMatcher> {
    let text = node.text()?;
    if text == "*" {
        return None;
    }
    match Glob::new(text) {
        Ok(glob) => Some(glob.compile_matcher()),
        Err(error) => {
            problems.push(
                Problem::error(node.place, format!("`{text}` is no glob: {}", error.kind()))
                    .help("`*` stands for any text, `?` for one character, `[ab]` and `{a,b}` for one of several"),
            );
            None
        }
    }
}
