//! Names that may hold `*` and other wildcards.

use globset::{Glob, GlobMatcher};

use super::problems::Problems;
use super::report::Problem;
use super::tree::{Node, Place};

/// A glob, case as written; `None` when everything is meant, or when it is none: then that is reported.
pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<GlobMatcher> {
    let text = node.text()?;
    if text == "*" {
        return None;
    }
    if let Some(problem) = fault(text, node.place) {
        problems.push(problem);
        return None;
    }
    Glob::new(text).ok().map(|glob| glob.compile_matcher())
}

/// What is wrong with a glob, if anything.
pub(super) fn fault(text: &str, place: Place) -> Option<Problem> {
    let message = match Glob::new(text) {
        Ok(_) if text.is_empty() => "an empty text matches nothing".to_owned(),
        Ok(_) => return None,
        Err(error) => format!("`{text}` is no glob: {}", error.kind()),
    };
    Some(Problem::error(place, message).help(
        "`*` stands for any text, `?` for one character, `[ab]` and `{a,b}` for one of several",
    ))
}
