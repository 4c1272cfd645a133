//! What git commands read and change.

use crate::model::Stash;

use super::script::{Word, Words};

/// What one git command does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GitEffect {
    /// Its answer depends on the state of the repository.
    pub(super) reads: bool,
    /// Its answer depends on the files of the working tree as well.
    pub(super) reads_tree: bool,
    /// It changes the state of the repository.
    pub(super) changes: bool,
    /// It changes files of the working tree.
    pub(super) changes_tree: bool,
    /// It talks to the remote end.
    pub(super) remote: bool,
}

/// Options of git itself that take the next word.
const VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
];

/// Sub-commands that tell of the repository alone.
const TELLING: Words = Words(
    "log show rev-parse describe blame shortlog reflog cat-file rev-list ls-tree show-ref for-each-ref \
     merge-base name-rev whatchanged cherry count-objects range-diff diff-tree var help version annotate",
);
/// Sub-commands that change the repository and leave the working tree alone.
const CHANGING: Words = Words(
    "add commit branch tag remote config init gc prune notes worktree update-index update-ref replace \
     read-tree write-tree symbolic-ref lfs maintenance",
);

/// The position and text of the sub-command.
pub(super) fn verb(words: &[Word]) -> Option<(usize, &str)> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            option if VALUED.contains(&option) => at += 2,
            option if option.starts_with('-') => at += 1,
            verb => return Some((at, verb)),
        }
    }
    None
}

/// The directory that `git -C` names.
pub(super) fn directory(words: &[Word]) -> Option<&Word> {
    let (end, _) = verb(words).unwrap_or((words.len(), ""));
    let before = words.get(..end)?;
    let at = before.iter().position(|w| w.text == "-C")?;
    before.get(at + 1)
}

/// Whether edits are put aside or taken back.
pub(super) fn stash(words: &[Word]) -> Option<Stash> {
    let (at, verb) = verb(words)?;
    if verb != "stash" {
        return None;
    }
    let first = words.get(at + 1).map_or("", |word| word.text.as_str());
    match first {
        "" | "push" | "save" => Some(Stash::Put),
        "pop" | "apply" => Some(Stash::Taken),
        first if first.starts_with('-') => Some(Stash::Put),
        _ => None,
    }
}

/// What a git command does; `None` when its sub-command is not known.
pub(super) fn effect(words: &[Word]) -> Option<GitEffect> {
    let (at, verb) = verb(words)?;
    let args = words.get(at + 1..).unwrap_or_default();
    let has = |flags: &[&str]| args.iter().any(|w| flags.contains(&w.text.as_str()));
    let first = args.first().map_or("", |w| w.text.as_str());
    let operands = args.iter().filter(|w| !w.text.starts_with('-')).count();
    let read = GitEffect {
        reads: true,
        ..GitEffect::default()
    };
    let read_tree = GitEffect {
        reads_tree: true,
        ..read
    };
    let change = GitEffect {
        changes: true,
        ..GitEffect::default()
    };
    let change_tree = GitEffect {
        changes_tree: true,
        ..change
    };
    Some(match verb {
        "status" | "diff" | "ls-files" | "grep" | "diff-files" | "diff-index" | "check-ignore" => {
            read_tree
        }
        verb if TELLING.contains(verb) => read,
        "ls-remote" => GitEffect {
            remote: true,
            ..read
        },
        "branch" if operands == 0 && !has(&["-d", "-D", "-m", "-M"]) => read,
        "branch" if has(&["--list", "--contains", "--show-current", "-a", "-r"]) => read,
        "tag" if operands == 0 || has(&["-l", "--list"]) => read,
        "remote" if matches!(first, "" | "-v" | "show" | "get-url") => read,
        "stash" if matches!(first, "list" | "show") => read,
        "worktree" if first == "list" => read,
        "config"
            if has(&["--get", "--list", "-l", "--get-all", "get", "list"]) || operands == 1 =>
        {
            read
        }
        "submodule" if matches!(first, "" | "status") => read,
        "bisect" if matches!(first, "log" | "view") => read,
        "checkout" | "switch"
            if has(&["-b", "-B", "-c", "-C", "--orphan", "--create"]) && operands <= 1 =>
        {
            change
        }
        "reset" if !has(&["--hard", "--merge", "--keep"]) => change,
        "restore" if has(&["--staged"]) && !has(&["--worktree", "-W"]) => change,
        "rm" if has(&["--cached"]) => change,
        "apply" if has(&["--check", "--stat", "--numstat", "--summary"]) && !has(&["--apply"]) => {
            read_tree
        }
        "merge" | "rebase" | "cherry-pick" | "revert" | "am" | "apply" | "checkout" | "switch"
        | "restore" | "reset" | "stash" | "clean" | "rm" | "mv" | "bisect" | "submodule"
        | "sparse-checkout" | "filter-branch" => change_tree,
        "pull" => GitEffect {
            remote: true,
            ..change_tree
        },
        "push" | "fetch" | "clone" => GitEffect {
            remote: true,
            ..change
        },
        verb if CHANGING.contains(verb) => change,
        _ => return None,
    })
}
