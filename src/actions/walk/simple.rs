//! Simple commands: their words, redirections, prefixes and inner shells.

use shuck_ast::{
    BuiltinCommand, Command, DeclOperand, Redirect, RedirectKind, Stmt, WordPart, WordPartNode,
};

use super::super::prefixes;
use super::super::script::{MAX_WORDS, Output, Part, Simple, Word};
use super::status::shell_options;
use super::{Context, MAX_NESTING, Walk};

/// Deepest `bash -c '...'` inside another.
const MAX_SHELLS: u32 = 3;
/// Longest input text kept of a here-document.
const MAX_INPUT: usize = 64 << 10;

impl Walk {
    /// Redirections of a group or loop belong to a command without words.
    pub(super) fn outputs_of(&mut self, stmt: &Stmt, source: &str, context: Context) {
        let (outputs, _) = self.redirects(&stmt.redirects, source, context);
        if !outputs.is_empty() {
            let simple = Simple {
                outputs,
                ..Simple::default()
            };
            self.push(simple, context.hidden());
        }
    }

    pub(super) fn simple(&mut self, stmt: &Stmt, source: &str, context: Context) {
        let mut words = Vec::new();
        let assignments = match &stmt.command {
            Command::Simple(simple) => {
                let name = self.word(&simple.name, source, context);
                if !name.text.is_empty() || name.dynamic {
                    words.push(name);
                }
                for arg in &simple.args {
                    words.push(self.word(arg, source, context));
                }
                &simple.assignments
            }
            Command::Decl(decl) => {
                self.declaration(&decl.operands, source, context);
                &decl.assignments
            }
            Command::Builtin(builtin) => {
                let (name, argument, assignments) = match builtin {
                    BuiltinCommand::Break(c) => ("break", &c.depth, &c.assignments),
                    BuiltinCommand::Continue(c) => ("continue", &c.depth, &c.assignments),
                    BuiltinCommand::Return(c) => ("return", &c.code, &c.assignments),
                    BuiltinCommand::Exit(c) => ("exit", &c.code, &c.assignments),
                };
                words.push(literal(name));
                if let Some(argument) = argument {
                    words.push(self.word(argument, source, context));
                }
                assignments
            }
            _ => return,
        };
        for assignment in assignments {
            self.assignment(assignment, source, context, words.is_empty());
        }
        self.settings(&words);
        let (outputs, input) = self.redirects(&stmt.redirects, source, context);
        let simple = Simple {
            words,
            outputs,
            input,
            ..Simple::default()
        };
        if !simple.words.is_empty() || !simple.outputs.is_empty() {
            self.run(simple, context);
        }
    }

    fn declaration(&mut self, operands: &[DeclOperand], source: &str, context: Context) {
        for operand in operands {
            if let DeclOperand::Assignment(assignment) = operand {
                self.assignment(assignment, source, context, true);
            }
        }
    }

    fn assignment(
        &mut self,
        assignment: &shuck_ast::Assignment,
        source: &str,
        context: Context,
        lasting: bool,
    ) {
        if let shuck_ast::AssignmentValue::Scalar(value) = &assignment.value {
            let value = self.word(value, source, context);
            if lasting {
                let name = assignment.target.name.as_str().to_owned();
                self.parts.push(Part::Set(name, value));
            }
        }
    }

    /// `set -e`, `set -o pipefail` and their like.
    fn settings(&mut self, words: &[Word]) {
        if words.first().is_some_and(|word| word.text == "set") {
            let (errexit, pipefail) = shell_options(words);
            self.errexit |= errexit;
            self.pipefail |= pipefail;
        }
    }

    /// Takes prefixes off, opens inner shells, and notes what is left.
    fn run(&mut self, simple: Simple, context: Context) {
        let simple = prefixes::strip(simple);
        let Some(inner) = prefixes::inner_shell(&simple) else {
            self.push(simple, context);
            return;
        };
        if self.shells >= MAX_SHELLS {
            self.complete = false;
            return;
        }
        let saved = (self.errexit, self.pipefail);
        let (errexit, pipefail) = shell_options(&simple.words);
        self.errexit = errexit;
        self.pipefail = pipefail;
        self.shells += 1;
        self.parts.push(Part::Enter);
        if let Some(dir) = &simple.dir {
            self.push(
                Simple {
                    words: vec![literal("cd"), dir.clone()],
                    ..Simple::default()
                },
                context,
            );
        }
        let first = self.parts.len();
        self.text(&inner, context);
        for part in self.parts.iter_mut().skip(first) {
            if let Part::Run(run) = part {
                run.away |= simple.away;
                run.limited |= simple.limited;
            }
        }
        if !simple.outputs.is_empty() {
            let outputs = Simple {
                outputs: simple.outputs,
                ..Simple::default()
            };
            self.push(outputs, context.hidden());
        }
        self.parts.push(Part::Leave);
        self.shells -= 1;
        (self.errexit, self.pipefail) = saved;
    }

    pub(super) fn push(&mut self, simple: Simple, context: Context) {
        self.words += simple.words.len().max(1);
        if self.words > MAX_WORDS {
            self.complete = false;
            return;
        }
        self.parts.push(Part::Run(Box::new(Simple {
            masked: !context.visible,
            ends: context.ends,
            background: context.background,
            piped: context.piped,
            ..simple
        })));
    }

    fn redirects(
        &mut self,
        redirects: &[Redirect],
        source: &str,
        context: Context,
    ) -> (Vec<Output>, Option<String>) {
        let mut outputs = Vec::new();
        let mut input = None;
        for redirect in redirects {
            if let Some(heredoc) = redirect.heredoc() {
                let text = heredoc.body.render(source);
                let end = text.floor_char_boundary(MAX_INPUT);
                input = Some(text.get(..end).unwrap_or_default().to_owned());
                continue;
            }
            let Some(target) = redirect.word_target() else {
                continue;
            };
            let target = self.word(target, source, context);
            match redirect.kind {
                RedirectKind::HereString => input = Some(target.text),
                RedirectKind::Output
                | RedirectKind::Clobber
                | RedirectKind::Append
                | RedirectKind::ReadWrite
                | RedirectKind::OutputBoth => {
                    outputs.push(Output {
                        target,
                        appends: redirect.kind == RedirectKind::Append,
                    });
                }
                RedirectKind::DupOutput if !is_descriptor(&target.text) => outputs.push(Output {
                    target,
                    appends: false,
                }),
                _ => {}
            }
        }
        (outputs, input)
    }

    pub(super) fn word(&mut self, word: &shuck_ast::Word, source: &str, context: Context) -> Word {
        let mut out = Word::default();
        for part in &word.parts {
            if let WordPart::Literal(text) = &part.kind {
                unescaped(text.as_str(source, part.span), &mut out.text);
            } else {
                self.word_parts(std::slice::from_ref(part), source, context, &mut out);
            }
        }
        out
    }

    fn word_parts(
        &mut self,
        parts: &[WordPartNode],
        source: &str,
        context: Context,
        out: &mut Word,
    ) {
        for part in parts {
            match &part.kind {
                WordPart::Literal(text) => out.text.push_str(text.as_str(source, part.span)),
                WordPart::SingleQuoted { value, .. } => out.text.push_str(value.slice(source)),
                WordPart::DoubleQuoted { parts, .. } => {
                    self.word_parts(parts, source, context, out)
                }
                WordPart::CommandSubstitution { body, .. }
                | WordPart::ProcessSubstitution { body, .. } => {
                    out.dynamic = true;
                    self.parts.push(Part::Enter);
                    self.nesting += 1;
                    if self.nesting < MAX_NESTING {
                        self.sequence(body, source, context.hidden());
                    } else {
                        self.complete = false;
                    }
                    self.nesting -= 1;
                    self.parts.push(Part::Leave);
                    out.text.push_str(part.span.slice(source));
                }
                _ => {
                    out.dynamic = true;
                    out.text.push_str(part.span.slice(source));
                }
            }
        }
    }
}

/// Adds a text outside of quotes, as the shell reads it: `it'\''s`, `a\ b`. A backslash before a letter, a
/// digit or another backslash stays: it parts a Windows path.
fn unescaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let mut after = tail.chars();
        after.next();
        match after.next() {
            Some('\\') => out.push_str("\\\\"),
            Some(next) if next.is_ascii_punctuation() || next == ' ' => out.push(next),
            Some(next) => out.extend(['\\', next]),
            None => out.push('\\'),
        }
        rest = after.as_str();
    }
    out.push_str(rest);
}

fn literal(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        dynamic: false,
    }
}

fn is_descriptor(text: &str) -> bool {
    let text = text.strip_suffix('-').unwrap_or(text);
    text.chars().all(|c| c.is_ascii_digit())
}
