//! What calls of tools other than shells do: editors, readers, fetchers, checkers.

use crate::model::Role;

use super::arguments::Arguments;
use super::commands;
use super::comments;
use super::hosts;
use super::members::{CONTENT, NEW, OLD, PATCH};
use super::roles;
use super::script::Word;
use super::verification;
use super::world::{World, Writing};

/// Whether a shell-like tool runs code of a language rather than commands.
pub(super) fn runs_code(tool: &str) -> bool {
    let words = roles::words(tool);
    words.iter().any(|word| {
        matches!(
            word.as_str(),
            "python"
                | "ipython"
                | "pythonrepl"
                | "jupyter"
                | "javascript"
                | "js"
                | "interpreter"
                | "repl"
                | "cell"
                | "notebook"
        )
    }) || roles::fold(tool).is_some_and(|name| {
        matches!(
            name.as_str(),
            "executecode"
                | "runcode"
                | "codeexecution"
                | "codeexecutiontool"
                | "interactwithprocess"
                | "executejs"
                | "automationscript"
        )
    })
}

/// Whether a shell tool takes backslashes in paths.
pub(super) fn is_windows_shell(tool: &str) -> bool {
    roles::words(tool)
        .iter()
        .any(|word| matches!(word.as_str(), "powershell" | "pwsh" | "cmd"))
}

/// Whether a command begins with a cmdlet: `Set-Content -Path ...`.
pub(super) fn begins_with_cmdlet(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.split_once('-').is_some_and(|(verb, noun)| {
        let camel = |part: &str| {
            part.len() > 1
                && part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        camel(verb) && camel(noun)
    })
}

/// Applies what the call does.
pub(super) fn apply(world: &mut World<'_>, arguments: &Arguments<'_>) {
    match world.role {
        Role::Shell => {
            world.effects.reads.workspace = true;
            world.effects.changes.unknown = true;
            world.effects.weak_check = true;
        }
        Role::Edit => editor(world, arguments),
        Role::Read => reader(world, arguments),
        Role::Search => {
            // A search of the web reads no files, but equal answers are equal answers.
            world.effects.reads.any_file = true;
        }
        Role::Fetch => {
            world.effects.reads.service = true;
            world.contacts(url(arguments));
            for one in arguments.texts(&["urls", "uris", "links"]) {
                world.contacts(hosts::of_url(&one, true));
            }
        }
        Role::Verify => {
            let cwd = match arguments.directory() {
                Some(dir) => world.directory_at(&word(dir)),
                None => world.directory(),
            };
            let partial = !arguments.paths().is_empty()
                || arguments.has(&[
                    "filter", "testname", "tests", "pattern", "k", "keyword", "testpath",
                ]);
            world.effects.reads.workspace = true;
            world.effects.reads.service = true;
            let verification = verification::of_tool(world.call, cwd, partial);
            world.effects.verification = Some(Box::new(verification));
        }
        Role::Poll => {
            world.effects.poll = true;
            world.effects.reads.service = true;
        }
        Role::Wait => world.effects.wait_ms = Some(waited(arguments)),
        Role::Other => other(world, arguments),
        Role::Delegate => {
            let told = verification::of_delegate(world.call, world.directory());
            world.effects.verification = told.map(Box::new);
        }
        Role::Ask | Role::Finish => {}
    }
    if matches!(world.role, Role::Read | Role::Poll) && reads_ci(world.call.tool) {
        let state = verification::of_ci(world.call, world.directory());
        world.effects.verification = state.map(Box::new);
    }
}

/// Whether a tool reads the state of continuous integration: `get_pull_request_status`, `list_workflow_runs`,
/// `get_check_runs`, `get_build_status`.
fn reads_ci(tool: &str) -> bool {
    let words = roles::words(tool);
    let is = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    is(&[
        "pull", "pr", "check", "checks", "workflow", "pipeline", "build", "ci", "commit",
    ]) && is(&["status", "statuses", "checks", "run", "runs", "conclusion"])
}

fn word(text: String) -> Word {
    Word {
        text,
        dynamic: false,
    }
}

fn url(arguments: &Arguments<'_>) -> Option<crate::model::Name> {
    let url = arguments
        .text(&[
            "url",
            "uri",
            "href",
            "link",
            "address",
            "endpoint",
            "website",
            "page",
            "pageurl",
            "targeturl",
            "fullurl",
            "starturl",
            "baseurl",
            "site",
        ])
        .or_else(|| arguments.plain().map(str::to_owned))?;
    hosts::of_url(&url, true)
}

fn waited(arguments: &Arguments<'_>) -> u64 {
    let millis = arguments.number(&[
        "ms",
        "milliseconds",
        "millis",
        "durationms",
        "timems",
        "timeoutms",
    ]);
    let seconds = arguments.number(&[
        "seconds",
        "secs",
        "s",
        "duration",
        "time",
        "delay",
        "timeout",
        "sleeptime",
    ]);
    let minutes = arguments.number(&["minutes", "mins"]);
    commands::whole_millis(
        millis
            .map(|n| n / 1e3)
            .or(seconds)
            .or(minutes.map(|n| n * 60.0))
            .unwrap_or(0.0),
    )
}

fn reader(world: &mut World<'_>, arguments: &Arguments<'_>) {
    let words = roles::words(world.call.tool);
    if words.first().is_some_and(|w| w == "git") {
        world.effects.reads.repo = true;
        world.effects.reads.any_file |= words
            .iter()
            .any(|w| matches!(w.as_str(), "status" | "diff"));
        return;
    }
    let lists = words.iter().any(|w| {
        matches!(
            w.as_str(),
            "list" | "ls" | "tree" | "dir" | "directory" | "overview" | "definition"
        )
    });
    let paths = arguments.paths();
    let of_files = words.iter().any(|w| {
        matches!(
            w.as_str(),
            "file" | "files" | "dir" | "directory" | "ls" | "tree"
        )
    });
    if lists && (of_files || !paths.is_empty()) {
        world.effects.reads.any_file = true;
    }
    for path in paths {
        world.reads_file(&word(path));
    }
}

fn editor(world: &mut World<'_>, arguments: &Arguments<'_>) {
    let command = arguments
        .text(&["command", "action", "operation", "mode"])
        .unwrap_or_default();
    let looks = matches!(command.as_str(), "view" | "read" | "list" | "cat" | "show");
    // The file system server of MCP shows what an edit would do.
    if looks || arguments.flag(&["dryrun"]) {
        world.role = Role::Read;
        return reader(world, arguments);
    }
    let words = roles::words(world.call.tool);
    let verb = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    if verb(&["move", "rename", "copy"]) || matches!(command.as_str(), "rename" | "move") {
        return moves(world, arguments, !verb(&["copy"]));
    }
    let paths = arguments.paths();
    if paths.is_empty() {
        return patch(world, arguments);
    }
    let directory =
        verb(&["directory", "mkdir", "dir", "folder"]) && verb(&["create", "make", "mkdir"]);
    let content = arguments.text(CONTENT);
    let old = arguments.text(OLD);
    let new = arguments.text(NEW);
    let appends = verb(&["append", "insert"]) || matches!(command.as_str(), "append" | "insert");
    let pairs = match (old.clone(), new) {
        (Some(old), Some(new)) => Some(vec![(old, new)]),
        _ => arguments.replacements(OLD, NEW),
    };
    // Equal texts change nothing, whatever the tool says.
    let harmless = |path: &str| {
        pairs.as_ref().is_some_and(|pairs| {
            pairs
                .iter()
                .all(|(old, new)| old == new || comments::only_comments_differ(path, old, new))
        })
    };
    let how = Writing {
        deletes: verb(&["delete", "remove"]) || matches!(command.as_str(), "delete" | "remove"),
        whole: content.is_some() && old.is_none() && !appends,
        edit: !directory,
    };
    world.effects.void = how.whole
        && content
            .as_deref()
            .is_some_and(|text| text.trim().is_empty());
    for path in paths {
        let edit = how.edit && !harmless(&path);
        world.writes(&word(path), Writing { edit, ..how });
    }
}

/// Moves or copies a file.
fn moves(world: &mut World<'_>, arguments: &Arguments<'_>, takes_away: bool) {
    let edit = Writing {
        edit: true,
        ..Writing::default()
    };
    let (from, to) = arguments.moved();
    if let Some(from) = from.filter(|_| takes_away) {
        world.writes(
            &word(from),
            Writing {
                deletes: true,
                ..edit
            },
        );
    }
    if let Some(to) = to {
        world.writes(
            &word(to),
            Writing {
                whole: true,
                ..edit
            },
        );
    }
}

fn patch(world: &mut World<'_>, arguments: &Arguments<'_>) {
    let text = arguments
        .text(PATCH)
        .or_else(|| arguments.plain().map(str::to_owned));
    match text {
        Some(text) => commands::patch_text(world, &text),
        // An edit of nobody knows what: that it is one is certain.
        None if world.call.arguments.is_some() => {
            world.effects.changes.unknown = true;
            world.notes_edit(None);
        }
        None => world.notes_edit(None),
    }
}

fn other(world: &mut World<'_>, arguments: &Arguments<'_>) {
    let words = roles::words(world.call.tool);
    let is = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    if is(&[
        "deploy", "migrate", "restart", "rollback", "release", "publish", "scale",
    ]) {
        world.effects.reads.workspace = true;
        world.effects.changes.service = true;
    } else if roles::changes_by_name(world.call.tool) {
        world.effects.changes.unknown = true;
    }
    if words.first().is_some_and(|w| w == "git") {
        world.effects.changes.repo = true;
    }
    world.effects.poll = goes_on(&words, arguments);
}

/// Keys and scrolling: the same call goes a step further each time, and what it answers does not say so.
fn goes_on(words: &[String], arguments: &Arguments<'_>) -> bool {
    let is = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    let action = || arguments.text(&["action"]);
    is(&[
        "scroll", "swipe", "keypress", "presskey", "sendkeys", "pagedown", "pageup",
    ]) || (is(&["press", "send"]) && is(&["key", "keys"]))
        || (is(&["computer", "browser", "action", "mouse", "gui"])
            && action().is_some_and(|action| {
                matches!(
                    action.as_str(),
                    "key"
                        | "keypress"
                        | "press_key"
                        | "press"
                        | "scroll"
                        | "scroll_down"
                        | "scroll_up"
                        | "swipe"
                )
            }))
}
