//! What one simple command does. One table by name; what is not in it is a program of which nothing is
//! known but that it runs.

mod change;
mod cmdlets;
mod look;
mod network;
mod services;

use super::exits;
use super::git;
use super::hosts;
use super::runners::{self, Check, Line, Recognised};
use super::script::{Simple, Word, Words};
pub(super) use change::patch_text;

use super::world::{Nature, World, Writing};
use crate::model::{CheckKind, Stash};

/// Commands that neither read files nor change anything outside the shell.
const PLAIN: Words = Words(
    "echo printf pwd date whoami id uname hostname env printenv which command whereis hash \
     alias unalias set unset shopt export source . read exit return break continue trap ulimit \
     umask history clear tput arch nproc locale getconf expr let bc man info help false shift \
     local declare getopts exec mktemp tty stty cal factor dirs disown bg fg nvm pyenv activate conda",
);

/// Applies what a command does.
pub(super) fn apply(world: &mut World<'_>, simple: &Simple, background: bool) {
    let line = Line(&simple.words);
    let name = line.name();
    redirections(world, simple, name);
    if simple.words.is_empty() {
        return;
    }
    if let Some(check) = ci_status(line) {
        world.checks(check, simple, background);
        world.effects.reads.service = true;
        return world.counts(Nature::Look);
    }
    match runners::recognised(&simple.words) {
        Recognised::Check(check) => {
            world.checks(check, simple, background);
            return world.counts(Nature::Work);
        }
        Recognised::Tells => {
            world.effects.reads.workspace = true;
            return world.counts(Nature::Look);
        }
        Recognised::Other => {}
    }
    let cmdlet = cmdlet_name(name);
    let nature = cmdlet
        .as_deref()
        .and_then(|name| cmdlets::cmdlet(world, name, line))
        .or_else(|| shell_words(world, name, line))
        .or_else(|| look::reading(world, name, line))
        .or_else(|| change::files(world, name, line, simple.input.as_deref()))
        .or_else(|| repository(world, name, line))
        .or_else(|| network::network(world, name, line))
        .or_else(|| services::packages(world, name, line))
        .or_else(|| services::services(world, name, line))
        .unwrap_or_else(|| program(world, simple));
    world.counts(nature);
}

/// The name of a cmdlet in lower case: `Set-Content`.
fn cmdlet_name(name: &str) -> Option<String> {
    let (verb, noun) = name.split_once('-')?;
    let letters =
        |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    (letters(verb) && letters(noun)).then(|| name.to_ascii_lowercase())
}

fn redirections(world: &mut World<'_>, simple: &Simple, name: &str) {
    // Output of a program is a result; text that a printing command gives is written by the agent.
    let printed = matches!(
        name,
        "" | "cat"
            | "echo"
            | "printf"
            | "sed"
            | "awk"
            | "jq"
            | "yq"
            | "head"
            | "tail"
            | "envsubst"
            | "base64"
            | "perl"
            | "tr"
            | "cut"
            | "sort"
    );
    for output in &simple.outputs {
        // The shell's own way to a socket.
        if let Some(host) = socket(&output.target.text) {
            world.contacts(hosts::of_authority(host));
            continue;
        }
        world.writes(
            &output.target,
            Writing {
                deletes: false,
                whole: !output.appends,
                edit: printed,
            },
        );
    }
}

/// The host of `/dev/tcp/HOST/PORT`.
fn socket(path: &str) -> Option<&str> {
    let rest = path
        .strip_prefix("/dev/tcp/")
        .or_else(|| path.strip_prefix("/dev/udp/"))?;
    rest.split('/').next().filter(|host| !host.is_empty())
}

fn shell_words(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    Some(match name {
        ":" | "true" => Nature::Void,
        "sleep" | "start-sleep" => Nature::Wait(duration(line)),
        // Where one is decides nothing by itself: such commands are not counted.
        "cd" | "chdir" | "set-location" => {
            match line.operands().next() {
                Some(word) => world.enter_directory(word),
                None if line.text(1) == "-" => world.return_directory(),
                None => world.enter_home(),
            }
            return Some(Nature::Step);
        }
        "pushd" => {
            world.push_directory(line.operands().next());
            return Some(Nature::Step);
        }
        "popd" => {
            world.pop_directory();
            return Some(Nature::Step);
        }
        _ if PLAIN.contains(name) => Nature::Look,
        _ => return None,
    })
}

/// Sums what `sleep 1m 5` says; unknown words count nothing.
fn duration(line: Line<'_>) -> u64 {
    let of = |word: &Word| -> Option<f64> {
        let text = word.text.as_str();
        let (number, factor) = match text.char_indices().last()? {
            (at, 's') => (text.get(..at)?, 1.0),
            (at, 'm') => (text.get(..at)?, 60.0),
            (at, 'h') => (text.get(..at)?, 3600.0),
            (at, 'd') => (text.get(..at)?, 86_400.0),
            _ => (text, 1.0),
        };
        let seconds: f64 = number.parse().ok()?;
        (seconds.is_finite() && seconds >= 0.0).then_some(seconds * factor)
    };
    let seconds: f64 = line.operands().filter_map(of).sum();
    whole_millis(seconds)
}

/// Milliseconds of a number of seconds, at most some centuries.
pub(in crate::actions) fn whole_millis(seconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a range that fits"
    )]
    let millis = (seconds.clamp(0.0, 1e10) * 1e3).round() as u64;
    millis
}

fn repository(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    if name != "git" {
        return None;
    }
    let Some(effect) = git::effect(line.0) else {
        world.effects.reads.repo = true;
        return Some(Nature::Work);
    };
    world.effects.reads.repo |= effect.reads;
    world.effects.reads.any_file |= effect.reads_tree;
    world.effects.changes.repo |= effect.changes;
    let stash = git::stash(line.0);
    if stash == Some(Stash::Put) {
        world.stashes(Stash::Put);
    }
    if effect.changes_tree {
        world.effects.changes.any_file = true;
        let named = git::directory(line.0);
        let dir = match named {
            Some(dir) => world.directory_at(dir),
            None => world.directory(),
        };
        if let Some(named) = named {
            world.writes(named, Writing::default());
        }
        world.notes_edit(dir.as_deref());
    }
    if stash == Some(Stash::Taken) {
        world.stashes(Stash::Taken);
    }
    if effect.remote {
        line.operands()
            .for_each(|word| world.contacts(hosts::of_remote(&word.text)));
        // Where a clone is put, when that is said.
        let mut operands = line
            .operands()
            .skip_while(|word| word.text != "clone")
            .skip(2);
        if let Some(into) = operands.next()
            && line.operands().any(|word| word.text == "clone")
        {
            world.writes(into, Writing::default());
        }
    }
    Some(if effect.changes {
        Nature::Work
    } else {
        Nature::Look
    })
}

/// Reads the state of continuous integration: `gh pr checks`, `gh run watch`, `glab ci status`.
fn ci_status(line: Line<'_>) -> Option<Check> {
    let (first, second) = (line.text(1), line.text(2));
    let status = matches!(
        (line.name(), first, second),
        (_, "pr" | "mr", "checks")
            | ("gh", "run", "view" | "watch" | "list")
            | ("glab", "ci" | "pipeline", "status" | "view" | "list")
            | ("hub", "ci-status", _)
    );
    status.then(|| Check {
        runner: "ci".to_owned(),
        kind: CheckKind::Tests,
        dir: None,
        partial: false,
        builds: false,
    })
}

/// Anything else is a program: what it answers depends on the whole workspace, what it changes is unknown.
fn program(world: &mut World<'_>, simple: &Simple) -> Nature {
    if exits::is_probe(simple) {
        return Nature::Look;
    }
    world.effects.reads.workspace = true;
    world.effects.changes.unknown = true;
    world.effects.weak_check = true;
    Nature::Work
}
