//! From the shell parser's tree to our flat [`Script`]. The only place that knows the parser.
//!
//! Invariant: a command is unmasked only when the exit status of the whole text cannot be 0 while this
//! command failed.

use shuck_ast::{
    BinaryOp, BuiltinCommand, Command, CompoundCommand, DeclOperand, Redirect, RedirectKind, Stmt,
    StmtSeq, StmtTerminator, WordPart, WordPartNode,
};
use shuck_parser::parser::{ParseStatus, Parser};
use shuck_parser::{ShellDialect, ShellProfile};

use super::guard;
use super::prefixes;
use super::script::{MAX_WORDS, Output, Part, Script, Simple, Word};

/// Deepest `bash -c '...'` inside another.
const MAX_SHELLS: u32 = 3;
/// Steps that the parser may take.
const FUEL: usize = 50_000;
/// Longest input text kept of a here-document.
const MAX_INPUT: usize = 64 << 10;
/// Deepest nesting of statements walked; the guard lets through less.
const MAX_NESTING: u32 = 64;

/// Takes a command text apart.
pub(super) fn script(text: &str) -> Script {
    let mut walk = Walk {
        parts: Vec::new(),
        words: 0,
        complete: true,
        errexit: false,
        pipefail: false,
        shells: 0,
        nesting: 0,
    };
    walk.text(text, Context::top());
    Script {
        parts: walk.parts,
        complete: walk.complete,
    }
}

/// How the status of a statement reaches the outside.
#[derive(Clone, Copy)]
struct Context {
    visible: bool,
    background: bool,
    piped: bool,
}

impl Context {
    fn top() -> Self {
        Self {
            visible: true,
            background: false,
            piped: false,
        }
    }

    fn hidden(self) -> Self {
        Self {
            visible: false,
            ..self
        }
    }
}

struct Walk {
    parts: Vec<Part>,
    words: usize,
    complete: bool,
    /// `set -e` holds.
    errexit: bool,
    /// `set -o pipefail` holds.
    pipefail: bool,
    shells: u32,
    nesting: u32,
}

impl Walk {
    fn text(&mut self, text: &str, context: Context) {
        if !guard::allows(text) {
            self.complete = false;
            return;
        }
        let profile = ShellProfile::native(ShellDialect::Bash);
        let parsed = Parser::with_limits_and_profile(text, 32, FUEL, profile).parse();
        self.complete &= parsed.status == ParseStatus::Clean;
        self.sequence(&parsed.file.body, text, context);
    }

    fn sequence(&mut self, seq: &StmtSeq, source: &str, context: Context) {
        let stmts = seq.as_slice();
        let (shown, through_pipe) = visible_statement(stmts, source);
        for (at, stmt) in stmts.iter().enumerate() {
            let visible = context.visible && (at == shown || self.errexit);
            let inner = Context { visible, ..context };
            let pipefail = self.pipefail;
            self.pipefail |= through_pipe && at == shown;
            self.statement(stmt, source, inner);
            if through_pipe && at == shown {
                self.pipefail = pipefail;
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt, source: &str, context: Context) {
        if self.nesting >= MAX_NESTING || self.words > MAX_WORDS {
            self.complete = false;
            return;
        }
        self.nesting += 1;
        let background = matches!(stmt.terminator, Some(StmtTerminator::Background(_)));
        let context = Context {
            visible: context.visible && !background && !stmt.negated,
            background: context.background || background,
            ..context
        };
        match &stmt.command {
            Command::Binary(_) => self.chain(stmt, source, context),
            Command::Compound(compound) => {
                self.compound(compound, source, context);
                self.outputs_of(stmt, source, context);
            }
            Command::Function(function) => self.statement(&function.body, source, context.hidden()),
            Command::AnonymousFunction(_) => self.complete = false,
            Command::Simple(_) | Command::Builtin(_) | Command::Decl(_) => {
                self.simple(stmt, source, context);
            }
        }
        self.nesting -= 1;
    }

    /// `a && b | c || d`: walked along the left spine without recursion, since chains may be long.
    fn chain(&mut self, stmt: &Stmt, source: &str, context: Context) {
        let mut rights = Vec::new();
        let mut stmt = stmt;
        let mut context = context;
        let mut pipe = false;
        while let Command::Binary(binary) = &stmt.command {
            let right = self.right_context(binary.op, context);
            let left = self.left_context(binary.op, &binary.right, source, context);
            let pipes = matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll);
            rights.push((&*binary.right, right, pipes));
            stmt = &binary.left;
            context = Context {
                visible: left.visible && !stmt.negated,
                ..left
            };
            pipe = pipes;
        }
        self.grouped(stmt, source, context, pipe);
        for (right, context, pipe) in rights.into_iter().rev() {
            self.grouped(right, source, context, pipe);
        }
    }

    fn grouped(&mut self, stmt: &Stmt, source: &str, context: Context, group: bool) {
        if group {
            self.parts.push(Part::Enter);
        }
        self.statement(stmt, source, context);
        if group {
            self.parts.push(Part::Leave);
        }
    }

    fn right_context(&self, op: BinaryOp, context: Context) -> Context {
        match op {
            BinaryOp::And => context,
            // Exit 0 does not prove that it ran.
            BinaryOp::Or => context.hidden(),
            BinaryOp::Pipe | BinaryOp::PipeAll => Context {
                piped: true,
                ..context
            },
        }
    }

    fn left_context(&self, op: BinaryOp, right: &Stmt, source: &str, context: Context) -> Context {
        match op {
            BinaryOp::And => context,
            BinaryOp::Or if always_fails(right, source) => context,
            BinaryOp::Or => context.hidden(),
            BinaryOp::Pipe | BinaryOp::PipeAll => Context {
                visible: context.visible && self.pipefail,
                piped: true,
                ..context
            },
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, source: &str, context: Context) {
        let hidden = context.hidden();
        match compound {
            CompoundCommand::Subshell(seq) => {
                self.parts.push(Part::Enter);
                self.sequence(seq, source, context);
                self.parts.push(Part::Leave);
            }
            CompoundCommand::BraceGroup(seq) => self.sequence(seq, source, context),
            CompoundCommand::Time(time) => {
                if let Some(stmt) = &time.command {
                    self.statement(stmt, source, context);
                }
            }
            CompoundCommand::Coproc(coproc) => {
                let background = Context {
                    background: true,
                    ..hidden
                };
                self.statement(&coproc.body, source, background);
            }
            CompoundCommand::If(branches) => {
                self.sequence(&branches.condition, source, hidden);
                self.sequence(&branches.then_branch, source, hidden);
                for (condition, branch) in &branches.elif_branches {
                    self.sequence(condition, source, hidden);
                    self.sequence(branch, source, hidden);
                }
                if let Some(branch) = &branches.else_branch {
                    self.sequence(branch, source, hidden);
                }
            }
            CompoundCommand::For(body) => {
                let words = body.words.as_deref().unwrap_or_default();
                for word in words {
                    self.word(word, source, context);
                }
                self.sequence(&body.body, source, hidden);
            }
            CompoundCommand::While(body) => {
                self.sequence(&body.condition, source, hidden);
                self.sequence(&body.body, source, hidden);
            }
            CompoundCommand::Until(body) => {
                self.sequence(&body.condition, source, hidden);
                self.sequence(&body.body, source, hidden);
            }
            CompoundCommand::ArithmeticFor(body) => self.sequence(&body.body, source, hidden),
            CompoundCommand::Select(body) => self.sequence(&body.body, source, hidden),
            CompoundCommand::Case(body) => {
                for item in &body.cases {
                    self.sequence(&item.body, source, hidden);
                }
            }
            CompoundCommand::Conditional(_) => self.push(
                Simple {
                    words: vec![Word {
                        text: "test".to_owned(),
                        dynamic: false,
                    }],
                    ..Simple::default()
                },
                context,
            ),
            CompoundCommand::Arithmetic(_) => {}
            CompoundCommand::Repeat(_)
            | CompoundCommand::Foreach(_)
            | CompoundCommand::Always(_) => {
                self.complete = false;
            }
        }
    }

    /// Redirections of a group or loop belong to a command without words.
    fn outputs_of(&mut self, stmt: &Stmt, source: &str, context: Context) {
        let (outputs, _) = self.redirects(&stmt.redirects, source, context);
        if !outputs.is_empty() {
            let simple = Simple {
                outputs,
                ..Simple::default()
            };
            self.push(simple, context.hidden());
        }
    }

    fn simple(&mut self, stmt: &Stmt, source: &str, context: Context) {
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

    fn push(&mut self, simple: Simple, context: Context) {
        self.words += simple.words.len().max(1);
        if self.words > MAX_WORDS {
            self.complete = false;
            return;
        }
        self.parts.push(Part::Run(Box::new(Simple {
            masked: !context.visible,
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

    fn word(&mut self, word: &shuck_ast::Word, source: &str, context: Context) -> Word {
        let mut out = Word::default();
        self.word_parts(&word.parts, source, context, &mut out);
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
                    out.text.push_str("$(");
                    self.parts.push(Part::Enter);
                    self.nesting += 1;
                    if self.nesting < MAX_NESTING {
                        self.sequence(body, source, context.hidden());
                    } else {
                        self.complete = false;
                    }
                    self.nesting -= 1;
                    self.parts.push(Part::Leave);
                    out.text.push(')');
                }
                _ => {
                    out.dynamic = true;
                    out.text.push_str(part.span.slice(source));
                }
            }
        }
    }
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

/// `-e` and `-o pipefail` among the words of `set` or of a shell.
fn shell_options(words: &[Word]) -> (bool, bool) {
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
fn always_fails(stmt: &Stmt, source: &str) -> bool {
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
fn visible_statement(stmts: &[Stmt], source: &str) -> (usize, bool) {
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
