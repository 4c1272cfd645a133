//! Cmdlets of PowerShell: names and parameters in any case, values behind their parameters.

use super::super::hosts;
use super::super::runners::Line;
use super::super::script::Word;
use super::super::world::{Nature, World, Writing};

/// Applies a cmdlet; `None` when the name is none that is known.
pub(super) fn cmdlet(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let path = || path(line);
    match name {
        "set-content" | "add-content" | "out-file" | "clear-content" | "tee-object" => {
            let whole = name != "add-content" && !has(line, "-append");
            let how = Writing {
                whole,
                edit: true,
                deletes: false,
            };
            if let Some(path) = path() {
                world.writes(&path, how);
            }
        }
        "remove-item" => {
            let how = Writing {
                deletes: true,
                edit: true,
                whole: false,
            };
            if let Some(path) = path() {
                world.writes(&path, how);
            }
        }
        "copy-item" | "move-item" | "rename-item" => {
            let how = Writing {
                edit: true,
                ..Writing::default()
            };
            if name != "copy-item"
                && let Some(path) = path()
            {
                world.writes(
                    &path,
                    Writing {
                        deletes: true,
                        ..how
                    },
                );
            }
            let to = parameter(line, &["-destination", "-newname"]).or_else(|| operand(line, 1));
            if let Some(to) = to {
                world.writes(&to, Writing { whole: true, ..how });
            }
        }
        "new-item" => {
            if let Some(path) = path() {
                world.writes(&path, Writing::default());
            }
        }
        _ => return looks(world, name, line),
    }
    Some(Nature::Work)
}

/// Cmdlets that look, wait, fetch or go somewhere.
fn looks(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let path = || path(line);
    Some(match name {
        "get-content" | "select-string" | "test-path" | "get-item" | "get-filehash" => {
            if let Some(path) = path() {
                world.reads_file(&path);
            }
            Nature::Look
        }
        "get-childitem" => {
            world.effects.reads.any_file = true;
            Nature::Look
        }
        "get-process" | "get-service" | "test-netconnection" => {
            world.effects.reads.service = true;
            let host = parameter(line, &["-computername"]);
            world.contacts(host.and_then(|host| hosts::of_authority(&host.text)));
            Nature::Look
        }
        "invoke-webrequest" | "invoke-restmethod" => request(world, line),
        "start-sleep" => {
            let seconds = parameter(line, &["-seconds", "-s"]).or_else(|| operand(line, 0));
            let millis = parameter(line, &["-milliseconds", "-m"]);
            let number = |word: Option<Word>| word.and_then(|word| word.text.parse::<f64>().ok());
            let seconds = number(millis).map(|n| n / 1e3).or_else(|| number(seconds));
            Nature::Wait(super::whole_millis(seconds.unwrap_or(0.0)))
        }
        "set-location" | "push-location" => {
            if let Some(path) = path() {
                world.enter_directory(&path);
            }
            Nature::Step
        }
        "write-host" | "write-output" | "get-location" | "get-date" | "get-command" => Nature::Look,
        _ => return None,
    })
}

/// The path that a cmdlet is about.
fn path(line: Line<'_>) -> Option<Word> {
    parameter(line, &["-path", "-literalpath", "-filepath"]).or_else(|| operand(line, 0))
}

fn request(world: &mut World<'_>, line: Line<'_>) -> Nature {
    let url = parameter(line, &["-uri"]).or_else(|| operand(line, 0));
    world.contacts(url.and_then(|url| hosts::of_url(&url.text, true)));
    if let Some(file) = parameter(line, &["-outfile"]) {
        let how = Writing {
            whole: true,
            ..Writing::default()
        };
        world.writes(&file, how);
    }
    world.effects.reads.service = true;
    let method = parameter(line, &["-method"]).map(|word| word.text.to_ascii_lowercase());
    if method.is_none_or(|method| matches!(method.as_str(), "get" | "head")) {
        return Nature::Look;
    }
    world.effects.changes.unknown = true;
    Nature::Work
}

/// The value behind one of the parameters, given in lower case.
fn parameter(line: Line<'_>, names: &[&str]) -> Option<Word> {
    let at = line.0.iter().position(|word| {
        names
            .iter()
            .any(|name| word.text.eq_ignore_ascii_case(name))
    })?;
    line.0.get(at + 1).cloned()
}

fn has(line: Line<'_>, name: &str) -> bool {
    line.0
        .iter()
        .any(|word| word.text.eq_ignore_ascii_case(name))
}

/// A word that is neither a parameter nor its value. Switches are told by their names.
fn operand(line: Line<'_>, nth: usize) -> Option<Word> {
    const SWITCHES: &[&str] = &[
        "-recurse",
        "-force",
        "-append",
        "-nonewline",
        "-raw",
        "-confirm",
    ];
    let mut words = line.0.iter().skip(1);
    let mut seen = 0;
    while let Some(word) = words.next() {
        if !word.text.starts_with('-') {
            if seen == nth {
                return Some(word.clone());
            }
            seen += 1;
        } else if !SWITCHES
            .iter()
            .any(|switch| word.text.eq_ignore_ascii_case(switch))
        {
            words.next();
        }
    }
    None
}
