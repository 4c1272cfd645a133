//! Commands that write, copy, move and delete files, and patches.

use super::super::edits;
use super::super::hosts;
use super::super::runners::Line;
use super::super::script::Word;
use super::super::world::{Nature, World, Writing};

/// A path written with text that may be source.
const EDIT: Writing = Writing {
    deletes: false,
    whole: false,
    edit: true,
};
/// A path written with something else.
const OUTPUT: Writing = Writing {
    deletes: false,
    whole: true,
    edit: false,
};

pub(super) fn files(
    world: &mut World<'_>,
    name: &str,
    line: Line<'_>,
    input: Option<&str>,
) -> Option<Nature> {
    match name {
        "tee" | "out-file" | "set-content" | "sponge" => {
            let whole = !line.has(&["-a", "--append"]);
            line.operands()
                .for_each(|word| world.writes(word, Writing { whole, ..EDIT }));
        }
        "rm" | "unlink" | "rmdir" | "shred" | "trash" | "del" | "erase" | "remove-item" | "rd" => {
            let how = Writing {
                deletes: true,
                ..EDIT
            };
            line.operands().for_each(|word| world.writes(word, how));
        }
        "cp" | "mv" | "install" | "rsync" | "ln" | "copy" | "move" | "copy-item" | "move-item"
        | "xcopy" => {
            copies(world, name, line);
        }
        "mkdir" | "md" | "touch" | "mkfifo" | "truncate" => makes(world, line),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => permissions(world, line),
        "dd" => {
            for word in line.0.iter().skip(1) {
                if let Some(target) = word.text.strip_prefix("of=") {
                    let target = Word {
                        text: target.to_owned(),
                        dynamic: word.dynamic,
                    };
                    world.writes(&target, OUTPUT);
                }
            }
        }
        "perl" | "ruby" if edits_in_place(line) => {
            line.operands()
                .skip(1)
                .for_each(|word| world.writes(word, EDIT));
        }
        "patch" | "apply_patch" | "applypatch" | "git-apply" => patch(world, line, name, input),
        "tar" | "unzip" | "gunzip" | "bunzip2" | "unxz" | "7z" | "zip" | "gzip" => {
            if let Some(dir) = line.value(&["-C", "-d", "--directory"]) {
                world.writes(&dir, Writing::default());
            }
            world.effects.changes.any_file = true;
        }
        "vim" | "vi" | "nvim" | "nano" | "emacs" | "ed" | "ex" | "code" => {
            world.effects.changes.unknown = true
        }
        _ => return None,
    }
    Some(Nature::Work)
}

/// Whom a file belongs to and who may read it are changed where the file lies; the first operand says how.
fn permissions(world: &mut World<'_>, line: Line<'_>) {
    let taken = |word: &Word| {
        let mode = word.text.strip_prefix(['-', '=']);
        mode.is_some_and(|mode| {
            mode.len() < 5 && mode.bytes().all(|byte| b"rwxXst".contains(&byte))
        }) || word.text.starts_with("--reference")
    };
    let acl = line.value(&["-m", "-x", "--modify", "--remove"]);
    let acl = acl.filter(|_| line.name() == "setfacl");
    let described = acl.is_some() || line.0.iter().skip(1).any(taken);
    line.operands()
        .filter(|word| acl.as_ref() != Some(*word))
        .skip(usize::from(!described))
        .for_each(|word| world.writes(word, Writing::default()));
}

/// `perl -pi -e`.
fn edits_in_place(line: Line<'_>) -> bool {
    line.0.iter().skip(1).map(|w| w.text.as_str()).any(|flag| {
        flag.starts_with('-') && !flag.starts_with("--") && flag.len() < 8 && flag.contains('i')
    })
}

fn makes(world: &mut World<'_>, line: Line<'_>) {
    let mut value = line.value(&["-m", "--mode", "-d", "-t", "-s", "-r"]);
    for word in line.operands() {
        if value.as_ref() == Some(word) {
            value = None;
        } else {
            world.writes(word, Writing::default());
        }
    }
}

fn copies(world: &mut World<'_>, name: &str, line: Line<'_>) {
    let moves = matches!(name, "mv" | "move" | "move-item");
    let target = line.value(&["-t", "--target-directory"]);
    let operands: Vec<&Word> = line
        .operands()
        .filter(|word| target.as_ref() != Some(*word))
        .take(64)
        .collect();
    let (sources, destination) = match (&target, operands.split_last()) {
        (Some(target), _) => (operands.as_slice(), target),
        (None, Some((last, rest))) => (rest, *last),
        (None, None) => return,
    };
    if moves {
        let how = Writing {
            deletes: true,
            ..EDIT
        };
        sources.iter().for_each(|word| world.writes(word, how));
    }
    if name == "rsync" {
        sources
            .iter()
            .for_each(|word| world.contacts(hosts::of_remote(&word.text)));
        if let Some(host) = hosts::of_remote(&destination.text) {
            world.effects.changes.service = true;
            return world.contacts(Some(host));
        }
    }
    let whole = name != "ln";
    let into = target.is_some()
        || sources.len() > 1
        || destination.text.ends_with('/')
        || matches!(destination.text.as_str(), "." | "..");
    let symbolic = line.0.iter().any(|w| {
        w.text == "--symbolic"
            || (w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains('s'))
    });
    if name == "ln" && sources.is_empty() {
        // One operand: the link comes to lie here, under the same name.
        let base = destination.text.rsplit('/').next().unwrap_or_default();
        let here = Word {
            text: base.to_owned(),
            dynamic: destination.dynamic,
        };
        return world.makes_link(&here, destination, symbolic);
    }
    if let ("ln", false, [source]) = (name, into, sources) {
        world.makes_link(destination, source, symbolic);
    }
    if !into || sources.is_empty() {
        return world.writes(destination, Writing { whole, ..EDIT });
    }
    for source in sources {
        let base = source.text.trim_end_matches('/').rsplit('/').next();
        let word = Word {
            text: format!(
                "{}/{}",
                destination.text.trim_end_matches('/'),
                base.unwrap_or_default()
            ),
            dynamic: destination.dynamic || source.dynamic,
        };
        if name == "ln" {
            world.makes_link(&word, source, symbolic);
        }
        world.writes(&word, Writing { whole, ..EDIT });
    }
}

fn patch(world: &mut World<'_>, line: Line<'_>, name: &str, input: Option<&str>) {
    if let Some(dir) = line
        .value(&["-d", "--directory"])
        .filter(|_| name == "patch")
    {
        world.writes(&dir, Writing::default());
        world.effects.changes.any_file = true;
        let dir = world.directory_at(&dir);
        return world.notes_edit(dir.as_deref());
    }
    let argument = line
        .operands()
        .next()
        .map(|w| w.text.as_str())
        .filter(|text| text.contains('\n'));
    match argument.filter(|_| name != "patch").or(input) {
        Some(text) => patch_text(world, text),
        None => world.changes_tree(),
    }
}

/// Applies the headers of a patch.
pub(in crate::actions) fn patch_text(world: &mut World<'_>, text: &str) {
    let patched = edits::patched(text);
    if patched.is_empty() {
        world.effects.changes.unknown = true;
    }
    for change in patched {
        let word = Word {
            text: change.path,
            dynamic: false,
        };
        world.writes(
            &word,
            Writing {
                deletes: change.deletes,
                whole: change.adds,
                edit: !change.comments,
            },
        );
    }
}
