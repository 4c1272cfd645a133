//! Whose exit status is the script's.

use shuck_ast::{BuiltinCommand, Command, CompoundCommand, Stmt};

use super::super::script::Word;

/// `-e` and `-o pipefail` among the words of `set` or of a shell.
pub(super) fn shell_options(words: &[Word]) -> (bool, bool) {
    let mut errexit = false;
    let mut pipefail = false;
    for word in words
        .iter()
        .skip(1)
        .take_while(|w| w.text.starts_with('-') || w.text == "pipefail" || w.text == "errexit")
    {
        match word.text.as_str() {
            "pipefail" => pipefail = true,
            "errexit" => errexit = true,
            long if long.starts_with("--") => {}
            short => errexit |= short.contains('e'),
        }
    }
    (errexit, pipefail)
}

/// Whether a statement surely ends the script with a failure: `exit 1`, `false`, `{ echo no; exit 1; }`.
pub(super) fn always_fails(stmt: &Stmt, source: &str) -> bool {
    match &stmt.command {
        Command::Builtin(BuiltinCommand::Exit(exit)) => fails(exit.code.as_ref(), source),
        Command::Builtin(BuiltinCommand::Return(back)) => fails(back.code.as_ref(), source),
        Command::Simple(simple) => {
            shuck_ast::static_word_text(&simple.name, source).is_some_and(|name| name == "false")
        }
        Command::Compound(CompoundCommand::BraceGroup(seq) | CompoundCommand::Subshell(seq)) => {
            seq.last().is_some_and(|last| always_fails(last, source))
        }
        _ => false,
    }
}

fn fails(code: Option<&shuck_ast::Word>, source: &str) -> bool {
    match code.map(|word| word.span.slice(source)) {
        // `|| exit` hands on the status that brought it here.
        None | Some("$?" | "\"$?\"") => true,
        Some(code) => code.parse::<u32>().is_ok_and(|code| code != 0),
    }
}

/// Which statement's status is that of the whole, and whether its pipes hand on a failure of their first
/// member. It is the last one, unless the last one is an `exit` that hands on what was kept before.
pub(super) fn visible_statement(stmts: &[Stmt], source: &str) -> (usize, bool) {
    let last = stmts.len().saturating_sub(1);
    let Some(Command::Builtin(BuiltinCommand::Exit(exit))) = stmts.last().map(|stmt| &stmt.command)
    else {
        return (last, false);
    };
    let Some(code) = exit
        .code
        .as_ref()
        .map(|word| word.span.slice(source).trim_matches('"'))
    else {
        return (last.saturating_sub(1), false);
    };
    let first_of_pipe = |text: &str| text.contains("PIPESTATUS[0]");
    if code == "$?" || first_of_pipe(code) {
        return (last.saturating_sub(1), first_of_pipe(code));
    }
    let Some(name) = code.strip_prefix('$').map(|n| n.trim_matches(['{', '}'])) else {
        return (last, false);
    };
    // `rc=$?` further up.
    for (at, stmt) in stmts.iter().enumerate().skip(1) {
        let text = stmt.span.slice(source).trim_end_matches([';', ' ', '\n']);
        if let Some(value) = text
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('='))
            && (value.trim_matches('"') == "$?" || first_of_pipe(value))
        {
            return (at - 1, first_of_pipe(value));
        }
    }
    (last, false)
}
