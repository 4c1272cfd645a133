//! From the shell parser's tree to our flat [`Script`]. The only place that knows the parser.
//!
//! Invariant: a command is unmasked only when the exit status of the whole text cannot be 0 while this
//! command failed.

mod simple;
mod status;

use shuck_ast::{BinaryOp, Command, CompoundCommand, Stmt, StmtSeq, StmtTerminator};
use shuck_parser::parser::{ParseStatus, Parser};
use shuck_parser::{ShellDialect, ShellProfile};

use super::guard;
use super::script::{MAX_WORDS, Part, Script, Simple, Word};
use status::{always_fails, visible_statement};

/// Steps that the parser may take.
const FUEL: usize = 50_000;

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
    /// The status of the whole may be this one's, though it need not be: in a loop, a branch, after `||`.
    ends: bool,
    background: bool,
    piped: bool,
}

impl Context {
    fn top() -> Self {
        Self {
            visible: true,
            ends: true,
            background: false,
            piped: false,
        }
    }

    fn hidden(self) -> Self {
        Self {
            visible: false,
            ends: false,
            ..self
        }
    }

    /// Its status may be that of the whole, and 0 proves nothing.
    fn uncertain(self) -> Self {
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
            let shows = at == shown || self.errexit;
            let inner = Context {
                visible: context.visible && shows,
                ends: context.ends && shows,
                ..context
            };
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
            ends: context.ends && !background,
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
            let right = Self::right_context(binary.op, &binary.right, source, context);
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

    fn right_context(op: BinaryOp, right: &Stmt, source: &str, context: Context) -> Context {
        match op {
            BinaryOp::And => context,
            // `|| exit 1` hands on that the left one failed.
            BinaryOp::Or if always_fails(right, source) => context.hidden(),
            // Exit 0 does not prove that it ran.
            BinaryOp::Or => context.uncertain(),
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
                ends: context.ends && self.pipefail,
                piped: true,
                ..context
            },
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, source: &str, context: Context) {
        let hidden = context.hidden();
        let inside = context.uncertain();
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
                self.sequence(&branches.then_branch, source, inside);
                for (condition, branch) in &branches.elif_branches {
                    self.sequence(condition, source, hidden);
                    self.sequence(branch, source, inside);
                }
                if let Some(branch) = &branches.else_branch {
                    self.sequence(branch, source, inside);
                }
            }
            CompoundCommand::For(body) => {
                let words = body.words.as_deref().unwrap_or_default();
                for word in words {
                    self.word(word, source, context);
                }
                self.sequence(&body.body, source, inside);
            }
            CompoundCommand::While(body) => {
                self.sequence(&body.condition, source, hidden);
                self.sequence(&body.body, source, inside);
            }
            CompoundCommand::Until(body) => {
                self.sequence(&body.condition, source, hidden);
                self.sequence(&body.body, source, inside);
            }
            CompoundCommand::ArithmeticFor(body) => self.sequence(&body.body, source, inside),
            CompoundCommand::Select(body) => self.sequence(&body.body, source, inside),
            CompoundCommand::Case(body) => {
                for item in &body.cases {
                    self.sequence(&item.body, source, inside);
                }
            }
            CompoundCommand::Conditional(_) | CompoundCommand::Arithmetic(_) => self.push(
                Simple {
                    words: vec![Word {
                        text: "test".to_owned(),
                        dynamic: false,
                    }],
                    ..Simple::default()
                },
                context,
            ),
            CompoundCommand::Repeat(_)
            | CompoundCommand::Foreach(_)
            | CompoundCommand::Always(_) => {
                self.complete = false;
            }
        }
    }
}
