//! Puts the effects of a call together.
//!
//! Invariant: arguments that cannot be read, and commands that cannot be taken apart, change something that
//! nobody knows, and accuse of nothing.

use crate::model::Role;

use super::arguments::Arguments;
use super::cache::Scripts;
use super::exits;
use super::script::Word;
use super::world::World;
use super::{CallFacts, Settings, Understood, tools};

/// What a call does to the world.
pub fn effects(call: &CallFacts<'_>, settings: &Settings, scripts: &mut Scripts) -> Understood {
    let mut world = World::new(call, call.cwd, settings.workspace.home.as_deref());
    let arguments = match call.arguments {
        Some(text) => Arguments::read(text),
        None => Some(Arguments::default()),
    };
    let Some(arguments) = arguments else {
        // Cut off, or no JSON: whatever it changes, nobody can say.
        world.effects.changes.unknown = matches!(call.role, Role::Shell | Role::Edit);
        return Understood {
            unparsed: true,
            role: call.role,
            effects: world.effects,
            ..Understood::default()
        };
    };
    if call.role == Role::Shell && !tools::runs_code(call.tool) {
        return of_shell(world, &arguments, scripts, call);
    }
    tools::apply(&mut world, &arguments);
    let role = world.role;
    world.finish_checks();
    Understood {
        role,
        exit: exits::of_tool(call.tool, call.exit_code),
        effects: world.effects,
        ..Understood::default()
    }
}

fn of_shell(
    mut world: World<'_>,
    arguments: &Arguments<'_>,
    scripts: &mut Scripts,
    call: &CallFacts<'_>,
) -> Understood {
    let Some(text) = arguments.command() else {
        world.effects.changes.unknown = call.arguments.is_some();
        return Understood {
            role: Role::Shell,
            unparsed: call.arguments.is_some(),
            effects: world.effects,
            ..Understood::default()
        };
    };
    if let Some(dir) = arguments.directory() {
        world.enter_directory(&Word {
            text: dir,
            dynamic: false,
        });
    }
    let text = if tools::is_windows_shell(call.tool) || tools::begins_with_cmdlet(&text) {
        text.replace('\\', "/")
    } else {
        text
    };
    let script = scripts.get(&text);
    world.run(&script, arguments.in_background());
    world.asks_for_top(&script, call);
    if !text.chars().any(char::is_alphanumeric) {
        world.effects.void = true;
    }
    let exit = exits::meaning(&script, call.exit_code, failed_silently(call));
    // What was not understood may do anything.
    world.effects.changes.unknown |= !script.complete;
    world.finish_shell();
    Understood {
        role: Role::Shell,
        exit,
        unparsed: !script.complete,
        effects: world.effects,
    }
}

/// Marked as failed, without an exit code and without a word: what went wrong would have said so.
fn failed_silently(call: &CallFacts<'_>) -> bool {
    let empty = |answer: &super::Excerpt<'_>| answer.front.trim().is_empty();
    call.error_flag == Some(true)
        && call.exit_code.is_none()
        && call.answer.as_ref().is_some_and(empty)
}
