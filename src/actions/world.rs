//! What is gathered while the commands of a call are gone through.
//!
//! Invariant: everything stays bounded: 16 paths, 8 hosts, two hashed files before `any_file`.

use crate::model::{CheckKind, Effects, Name, Role, Targets, Verdict, Write};

use super::paths::{self, Base, Resolved};
use super::runners::Check;
use super::script::{Part, Script, Simple, Word};
use super::trails::Aside;
use super::verification::{self, Circumstances};
use super::{CallFacts, commands, edits};

/// Most paths kept of one call.
const MAX_WRITES: usize = 16;

/// Most hosts kept of one call.
const MAX_HOSTS: usize = 8;

/// Most variables kept of one command.
const MAX_VARIABLES: usize = 32;

/// A directory as far as known, and whether it is lost.
type Place = (Option<String>, bool);

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
    scopes: Vec<(Place, usize)>,
    /// Where the last `cd` came from.
    previous: Option<Place>,
    /// Directories put aside by `pushd`.
    pushed: Vec<Place>,
    /// Number of the command being looked at.
    pub(super) at: usize,
    /// That command runs in a container or on another machine.
    away: bool,
    pub(super) checks: Vec<(Check, Circumstances, usize)>,
    pub(super) last_edit: Option<usize>,
    /// Roots of source edits: the common directory so far, `None` inside when there is none.
    pub(super) edit_root: Option<Option<String>>,
    commands: usize,
    void: usize,
    waits: usize,
    wait_ms: u64,
    looks: usize,
    /// Edits put aside within this very call.
    pub(super) aside: Option<Aside>,
}

impl<'a> World<'a> {
    pub(super) fn new(call: &'a CallFacts<'a>, cwd: Option<&str>, home: Option<&'a str>) -> Self {
        Self {
            call,
            effects: Effects::default(),
            role: call.role,
            home,
            cwd: cwd.map(paths::normalise),
            lost: false,
            variables: Vec::new(),
            scopes: Vec::new(),
            previous: None,
            pushed: Vec::new(),
            at: 0,
            away: false,
            checks: Vec::new(),
            last_edit: None,
            edit_root: None,
            commands: 0,
            void: 0,
            waits: 0,
            wait_ms: 0,
            looks: 0,
            aside: None,
        }
    }

    pub(super) fn run(&mut self, script: &Script, background: bool) {
        for part in &script.parts {
            match part {
                Part::Enter => {
                    let place = (self.cwd.clone(), self.lost);
                    self.scopes.push((place, self.variables.len()));
                }
                Part::Leave => {
                    if let Some(((cwd, lost), variables)) = self.scopes.pop() {
                        self.cwd = cwd;
                        self.lost = lost;
                        self.variables.truncate(variables);
                    }
                }
                Part::Set(name, value) => self.set(name, value),
                Part::Run(simple) => {
                    self.at += 1;
                    self.away = simple.away;
                    commands::apply(self, simple, background);
                }
            }
        }
    }

    fn set(&mut self, name: &str, value: &Word) {
        let (text, _, unresolved) =
            if value.text.starts_with("$(mktemp") || value.text.starts_with("`mktemp") {
                ("/tmp/mktemp".to_owned(), true, false)
            } else if value.dynamic {
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
            Some(dir) => self.go(dir),
            None => self.lose_directory(),
        }
    }

    /// `cd` without an operand.
    pub(super) fn enter_home(&mut self) {
        match self.home {
            Some(home) => self.go(paths::normalise(home)),
            None => self.lose_directory(),
        }
    }

    /// `cd -`.
    pub(super) fn return_directory(&mut self) {
        match self.previous.take() {
            Some(place) => self.place(place),
            None => self.lose_directory(),
        }
    }

    /// `pushd`.
    pub(super) fn push_directory(&mut self, word: Option<&Word>) {
        if self.pushed.len() < MAX_VARIABLES {
            self.pushed.push((self.cwd.clone(), self.lost));
        }
        match word {
            Some(word) => self.enter_directory(word),
            None => self.lose_directory(),
        }
    }

    /// `popd`.
    pub(super) fn pop_directory(&mut self) {
        match self.pushed.pop() {
            Some(place) => self.place(place),
            None => self.lose_directory(),
        }
    }

    fn place(&mut self, (cwd, lost): Place) {
        self.previous = Some((self.cwd.take(), self.lost));
        self.cwd = cwd;
        self.lost = lost;
    }

    fn go(&mut self, dir: String) {
        self.goes(&dir);
        self.place((Some(dir), false));
    }

    /// From here on nobody knows where relative paths lead.
    pub(super) fn lose_directory(&mut self) {
        self.place((None, true));
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
        if how.edit && !resolved.temp && !resolved.unresolved && edits::is_source(&resolved.path) {
            self.notes_edit(paths::parent(&resolved.path));
        }
        if self.effects.writes.len() < MAX_WRITES {
            self.effects.writes.push(Write {
                path: resolved.path.into(),
                dotted: resolved.dotted.map(Into::into),
                deletes: how.deletes,
                temp: resolved.temp,
                unresolved: resolved.unresolved,
                whole_file: how.whole,
                away: self.away,
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
            masked: simple.masked,
            background: simple.background || background,
            aside: false,
        };
        self.effects.reads.workspace = true;
        self.effects.weak_check |= check.builds;
        if self.checks.len() < 64 {
            self.checks.push((check, how, self.at));
        }
    }

    /// A command was looked at: how it counts for waiting and doing nothing.
    pub(super) fn counts(&mut self, nature: Nature) {
        self.commands += usize::from(nature != Nature::Step);
        match nature {
            Nature::Void => self.void += 1,
            Nature::Wait(ms) => {
                self.waits += 1;
                self.wait_ms = self.wait_ms.saturating_add(ms);
            }
            Nature::Look => self.looks += 1,
            Nature::Work | Nature::Step => {}
        }
    }

    pub(super) fn finish_shell(&mut self) {
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
    pub(super) fn finish_checks(&mut self) {
        let chosen = std::mem::take(&mut self.checks)
            .into_iter()
            .max_by_key(|(check, how, at)| (!how.aside, check.kind, *at));
        if let Some((check, how, at)) = chosen {
            let verification = verification::of_command(&check, how, self.call);
            let passed = matches!(
                verification.verdict,
                Verdict::Passed | Verdict::PassedBySummary
            );
            // An edit and the tests of it in one command: the edit is checked the moment it is made.
            if passed
                && !verification.aside
                && verification.kind == CheckKind::Tests
                && self.last_edit.is_some_and(|edit| edit < at)
            {
                self.effects.edits_source = false;
            }
            // A pipeline that still runs is no check; one whose state was not captured may be.
            let open = verification.verdict == Verdict::Unknown && self.call.answer.is_some();
            let known = check.runner != "ci" || !open;
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
    /// Goes to a directory: counts for nothing.
    Step,
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
