//! Puts the effects of a call together.
//!
//! Invariant: everything stays bounded: 16 paths, 8 hosts, two hashed files before `any_file`.

use crate::model::{CheckKind, Effects, Name, Role, Targets, Verdict, Write};

use super::arguments::Arguments;
use super::cache::Scripts;
use super::exits;
use super::paths::{self, Base, Resolved};
use super::runners::Check;
use super::script::{Part, Script, Simple, Word};
use super::verification::{self, Circumstances};
use super::{CallFacts, Settings, Understood, commands, edits, tools};

/// Most paths kept of one call.
const MAX_WRITES: usize = 16;
/// Most hosts kept of one call.
const MAX_HOSTS: usize = 8;
/// Most variables kept of one command.
const MAX_VARIABLES: usize = 32;

/// What a call does to the world.
pub fn effects(call: &CallFacts<'_>, settings: &Settings, scripts: &mut Scripts) -> Understood {
    let cwd = call.cwd.or(settings.workspace.root.as_deref());
    let mut world = World::new(call, cwd, settings.workspace.home.as_deref());
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
    let text = if tools::is_windows_shell(call.tool) {
        text.replace('\\', "/")
    } else {
        text
    };
    let script = scripts.get(&text);
    world.run(&script, arguments.in_background());
    if !text.chars().any(char::is_alphanumeric) {
        world.effects.void = true;
    }
    let last = script.runs().filter(|run| !run.masked).last();
    let limited = script.runs().any(|run| run.limited);
    let kills = script
        .runs()
        .any(|run| matches!(run.name(), "kill" | "pkill" | "killall" | "wait"));
    let exit = exits::meaning(last, kills, limited, call.exit_code);
    world.finish_shell();
    Understood {
        role: Role::Shell,
        exit,
        unparsed: !script.complete,
        effects: world.effects,
    }
}

/// What is gathered while the commands of a call are gone through.
pub(super) struct World<'a> {
    pub(super) call: &'a CallFacts<'a>,
    pub(super) effects: Effects,
    /// The role of this very call.
    pub(super) role: Role,
    home: Option<&'a str>,
    /// Current directory as far as known.
    cwd: Option<String>,
    /// A directory change led nobody knows where.
    lost: bool,
    variables: Vec<(String, String)>,
    scopes: Vec<(Option<String>, bool, usize)>,
    /// Number of the command being looked at.
    at: usize,
    checks: Vec<(Check, Circumstances, usize)>,
    last_edit: Option<usize>,
    /// Roots of source edits: the common directory so far, `None` inside when there is none.
    edit_root: Option<Option<String>>,
    commands: usize,
    void: usize,
    waits: usize,
    wait_ms: u64,
    looks: usize,
}

impl<'a> World<'a> {
    fn new(call: &'a CallFacts<'a>, cwd: Option<&str>, home: Option<&'a str>) -> Self {
        Self {
            call,
            effects: Effects::default(),
            role: call.role,
            home,
            cwd: cwd.map(paths::normalise),
            lost: false,
            variables: Vec::new(),
            scopes: Vec::new(),
            at: 0,
            checks: Vec::new(),
            last_edit: None,
            edit_root: None,
            commands: 0,
            void: 0,
            waits: 0,
            wait_ms: 0,
            looks: 0,
        }
    }

    fn run(&mut self, script: &Script, background: bool) {
        for part in &script.parts {
            match part {
                Part::Enter => {
                    self.scopes
                        .push((self.cwd.clone(), self.lost, self.variables.len()))
                }
                Part::Leave => {
                    if let Some((cwd, lost, variables)) = self.scopes.pop() {
                        self.cwd = cwd;
                        self.lost = lost;
                        self.variables.truncate(variables);
                    }
                }
                Part::Set(name, value) => self.set(name, value),
                Part::Run(simple) => {
                    self.at += 1;
                    commands::apply(self, simple, background);
                }
            }
        }
    }

    fn set(&mut self, name: &str, value: &Word) {
        let (text, _, unresolved) = if value.dynamic {
            paths::expand(&value.text, &self.base())
        } else {
            (value.text.clone(), false, false)
        };
        if !unresolved && self.variables.len() < MAX_VARIABLES {
            self.variables.push((name.to_owned(), text));
        }
    }

    fn base(&self) -> Base<'_> {
        Base {
            cwd: self.cwd.as_deref(),
            home: self.home,
            variables: &self.variables,
        }
    }

    /// The directory that the command is in; `None` when unknown.
    pub(super) fn directory(&self) -> Option<String> {
        (!self.lost).then(|| self.cwd.clone()).flatten()
    }

    /// A directory as seen from here.
    pub(super) fn directory_at(&self, word: &Word) -> Option<String> {
        if self.lost && !word.text.starts_with(['/', '~']) {
            return None;
        }
        paths::change_directory(&word.text, word.dynamic, &self.base())
    }

    /// Follows a `cd`.
    pub(super) fn enter_directory(&mut self, word: &Word) {
        match self.directory_at(word) {
            Some(dir) => {
                self.cwd = Some(dir);
                self.lost = false;
            }
            None => self.lose_directory(),
        }
    }

    /// From here on nobody knows where relative paths lead.
    pub(super) fn lose_directory(&mut self) {
        self.cwd = None;
        self.lost = true;
    }

    /// A path as seen from here.
    pub(super) fn resolve(&self, word: &Word) -> Resolved {
        let mut resolved = paths::resolve_word(&word.text, word.dynamic, &self.base());
        let absolute = resolved.path.starts_with('/') || resolved.path.get(1..2) == Some(":");
        resolved.unresolved |= self.lost && !absolute;
        resolved
    }

    /// The answer depends on a file.
    pub(super) fn reads_file(&mut self, word: &Word) {
        let resolved = self.resolve(word);
        if resolved.unresolved {
            self.effects.reads.any_file = true;
        } else {
            add_file(&mut self.effects.reads, &resolved.path);
        }
    }

    /// A path is written. `edit`: what comes to stand there is text that someone wrote, so that it may be
    /// a source edit.
    pub(super) fn writes(&mut self, word: &Word, how: Writing) {
        let resolved = self.resolve(word);
        let device = resolved.path.starts_with("/dev/") && !resolved.temp;
        if device || word.text.eq_ignore_ascii_case("nul") || word.text.is_empty() {
            return;
        }
        if resolved.unresolved {
            self.effects.changes.unknown = true;
        } else {
            add_file(&mut self.effects.changes, &resolved.path);
        }
        if how.edit && !resolved.temp && edits::is_source(&resolved.path) {
            self.notes_edit(paths::parent(&resolved.path));
        }
        if self.effects.writes.len() < MAX_WRITES {
            self.effects.writes.push(Write {
                path: resolved.path.into(),
                deletes: how.deletes,
                temp: resolved.temp,
                unresolved: resolved.unresolved,
                whole_file: how.whole,
            });
        } else {
            self.effects.changes.any_file = true;
        }
    }

    /// Sources are changed under this directory; `None` when unknown.
    pub(super) fn notes_edit(&mut self, dir: Option<&str>) {
        self.effects.edits_source = true;
        self.last_edit = Some(self.at);
        self.edit_root = Some(match (self.edit_root.take(), dir) {
            (None, dir) => dir.map(str::to_owned),
            (Some(Some(root)), Some(dir)) => paths::common(&root, dir).map(str::to_owned),
            _ => None,
        });
    }

    /// Files of the working tree are changed, nobody knows which.
    pub(super) fn changes_tree(&mut self) {
        self.effects.changes.any_file = true;
        let dir = self.directory();
        self.notes_edit(dir.as_deref());
    }

    /// A host is contacted.
    pub(super) fn contacts(&mut self, host: Option<Name>) {
        if let Some(host) = host
            && self.effects.hosts.len() < MAX_HOSTS
            && !self.effects.hosts.contains(&host)
        {
            self.effects.hosts.push(host);
        }
    }

    /// A check runs.
    pub(super) fn checks(&mut self, check: Check, simple: &Simple, background: bool) {
        let cwd = if simple.away {
            simple
                .dir
                .as_ref()
                .filter(|d| !d.dynamic)
                .map(|d| paths::normalise(&d.text))
        } else {
            match check.dir.as_ref().or(simple.dir.as_ref()) {
                Some(dir) => self.directory_at(dir),
                None => self.directory(),
            }
        };
        let how = Circumstances {
            cwd,
            masked: simple.masked || simple.piped && simple.masked,
            background: simple.background || background,
        };
        self.effects.reads.workspace = true;
        self.effects.weak_check |= check.builds;
        if self.checks.len() < 64 {
            self.checks.push((check, how, self.at));
        }
    }

    /// A command was looked at: how it counts for waiting and doing nothing.
    pub(super) fn counts(&mut self, nature: Nature) {
        self.commands += 1;
        match nature {
            Nature::Void => self.void += 1,
            Nature::Wait(ms) => {
                self.waits += 1;
                self.wait_ms = self.wait_ms.saturating_add(ms);
            }
            Nature::Look => self.looks += 1,
            Nature::Work => {}
        }
    }

    fn finish_shell(&mut self) {
        if self.commands > 0 && self.void == self.commands && self.effects.writes.is_empty() {
            self.effects.void = true;
        }
        if self.waits > 0 && self.waits + self.void == self.commands {
            self.effects.wait_ms = Some(self.wait_ms);
        } else if self.waits > 0 && self.waits + self.void + self.looks == self.commands {
            self.effects.poll = true;
        }
        self.finish_checks();
    }

    /// Chooses the check that speaks for the call: the last one of the strongest kind.
    fn finish_checks(&mut self) {
        let chosen = std::mem::take(&mut self.checks)
            .into_iter()
            .max_by_key(|(check, _, at)| (check.kind, *at));
        if let Some((check, how, at)) = chosen {
            let verification = verification::of_command(&check, how, self.call);
            let passed = matches!(
                verification.verdict,
                Verdict::Passed | Verdict::PassedBySummary
            );
            // An edit and the tests of it in one command: the edit is checked the moment it is made.
            if passed
                && verification.kind == CheckKind::Tests
                && self.last_edit.is_some_and(|edit| edit < at)
            {
                self.effects.edits_source = false;
            }
            let known = check.runner != "ci" || verification.verdict != Verdict::Unknown;
            self.effects.verification = known.then(|| Box::new(verification));
        }
        if self.effects.edits_source {
            self.effects.edit_root = self.edit_root.take().flatten().map(Into::into);
        }
    }
}

/// How a path is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Writing {
    /// Deleted, or moved away.
    pub(super) deletes: bool,
    /// Written anew as a whole.
    pub(super) whole: bool,
    /// It may be a source edit.
    pub(super) edit: bool,
}

/// What kind of command it is, for waiting and doing nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Does nothing.
    Void,
    /// Lets time pass: milliseconds.
    Wait(u64),
    /// Only looks at something.
    Look,
    /// Anything else.
    Work,
}

fn add_file(targets: &mut Targets, path: &str) {
    let hash = paths::hash(path);
    if targets.files.contains(&hash) {
        return;
    }
    match targets.files.iter_mut().find(|slot| **slot == 0) {
        Some(slot) => *slot = hash,
        None => targets.any_file = true,
    }
}
