//! `--compare OLD.jsonl`: what an earlier run of `replay --format json` found, against what is found now.
//!
//! Invariant: each finding has one partner at most, and the closest goes first: one session, type, tool, state and
//! span; then the step in place of the span; then those alone, which is `moved`. The same runs recorded again
//! have other ids: findings of sessions that only one side knows are partners by fingerprint, type and state, at the
//! same step, then at another, which is `moved`. The rest is new or gone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Deserialize;

use crate::cli::failure::Failure;
use crate::cli::screen;
use crate::engine::ClosedRun;
use crate::model::{Report, Severity, printable};
use crate::runtime::files;

use super::record;

/// Most bytes of an earlier output.
const OLD_MAX: u64 = 1 << 30;

/// A finding as an earlier run has printed it. Unknown members are ignored.
#[derive(Clone, Debug, Deserialize)]
struct Old {
    #[serde(default)]
    record: String,
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    session: String,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    state: String,
    #[serde(default)]
    span_id: String,
    #[serde(default)]
    fingerprint: String,
    #[serde(default)]
    step: u64,
    #[serde(default)]
    message: String,
}

/// Session, type, tool, state.
type Key = (String, String, String, String);

/// A finding on one of the two sides.
#[derive(Clone, Debug)]
struct One {
    key: Key,
    span: String,
    fingerprint: String,
    step: u64,
    message: String,
    severity: Option<Severity>,
}

impl One {
    fn session(&self) -> &str {
        &self.key.0
    }

    /// Where it stands among those of its session: the span, or the step where none is named.
    fn at_span(&self) -> (Key, String, u64) {
        let step = if self.span.is_empty() { self.step } else { 0 };
        (self.key.clone(), self.span.clone(), step)
    }

    /// What it is, whatever its session is called: service, agent, tool and rule are in the fingerprint.
    fn kind(&self) -> (String, String, String) {
        let (_, anomaly, _, state) = &self.key;
        (self.fingerprint.clone(), anomaly.clone(), state.clone())
    }
}

/// Both sides.
#[derive(Debug, Default)]
pub(super) struct Compare {
    old: Vec<One>,
    new: Vec<One>,
    /// Sessions that each side names.
    old_sessions: BTreeSet<String>,
    new_sessions: BTreeSet<String>,
}

/// What has become of the findings.
#[derive(Debug, Default)]
pub(super) struct Changes {
    new: Vec<One>,
    gone: Vec<One>,
    moved: Vec<(One, One)>,
    same: usize,
    /// Of those that are as before: in a session that has another id.
    elsewhere: usize,
}

/// Findings that have no partner yet.
#[derive(Debug, Default)]
struct Left {
    old: Vec<One>,
    new: Vec<One>,
}

impl Left {
    /// Takes out partners: of those that `key` takes for one, the first with the first. `None` has no partner.
    fn pair<K: Ord>(&mut self, key: impl Fn(&One) -> Option<K>) -> Vec<(One, One)> {
        let mut at: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
        for (place, old) in self.old.iter().enumerate() {
            if let Some(key) = key(old) {
                at.entry(key).or_default().push_back(place);
            }
        }
        let mut old: Vec<Option<One>> = self.old.drain(..).map(Some).collect();
        let mut pairs = Vec::new();
        for new in std::mem::take(&mut self.new) {
            let place = key(&new).and_then(|key| at.get_mut(&key)?.pop_front());
            match place.and_then(|place| old.get_mut(place)?.take()) {
                Some(old) => pairs.push((old, new)),
                None => self.new.push(new),
            }
        }
        self.old.extend(old.into_iter().flatten());
        pairs
    }
}

impl Compare {
    /// Reads an earlier output. The second value is what could not be read: line and why.
    ///
    /// # Errors
    /// The file cannot be read at all.
    pub(super) fn read(path: &Path) -> Result<(Self, Vec<(usize, String)>), Failure> {
        let text = files::read_text(path, OLD_MAX)
            .map_err(|e| Failure::Usage(format!("--compare: {e}")))?;
        let mut compare = Self::default();
        let mut unreadable = Vec::new();
        for (at, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            match serde_json::from_str::<Old>(line) {
                Ok(old) => match old.record.as_str() {
                    "finding" => compare.push_old(old),
                    // That it was there, and nothing was found.
                    "session" => {
                        compare.old_sessions.insert(old.session);
                    }
                    "" => unreadable
                        .push((at + 1, "no record of replay: it has no `record`".to_owned())),
                    // Of changes nothing is compared.
                    _ => {}
                },
                Err(error) => unreadable.push((at + 1, format!("no record of replay: {error}"))),
            }
        }
        Ok((compare, unreadable))
    }

    fn push_old(&mut self, old: Old) {
        self.old_sessions.insert(old.session.clone());
        self.old.push(One {
            key: (
                old.session,
                old.r#type,
                shown(old.tool.as_deref()),
                old.state,
            ),
            span: old.span_id,
            fingerprint: old.fingerprint,
            step: old.step,
            message: old.message,
            severity: None,
        });
    }

    /// Notes what is found now.
    pub(super) fn report(&mut self, report: &Report) {
        let finding = &report.finding;
        self.new_sessions.insert(report.session.to_string());
        self.new.push(One {
            key: (
                report.session.to_string(),
                finding.anomaly.name().to_owned(),
                shown(finding.tool.as_deref()),
                report.state.name().to_owned(),
            ),
            span: finding
                .judged()
                .map(|m| m.span.to_string())
                .unwrap_or_default(),
            fingerprint: format!("{:016x}", report.fingerprint),
            step: finding.judged().map_or(0, |member| member.step.into()),
            message: finding.message.clone(),
            severity: Some(report.severity),
        });
    }

    /// Notes the end of a run: its session is there, whatever was found.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        self.new_sessions.insert(closed.session.to_string());
    }

    /// What has changed.
    pub(super) fn changes(self) -> Changes {
        let mut left = Left {
            old: self.old,
            new: self.new,
        };
        let mut same = left.pair(|one| Some(one.at_span()));
        same.extend(left.pair(|one| Some((one.key.clone(), one.step))));
        let mut moved = left.pair(|one| Some(one.key.clone()));
        // A session that both know has lost or gained a finding, whatever else there is.
        let (old, new) = (&self.old_sessions, &self.new_sessions);
        let both = |one: &One| old.contains(one.session()) && new.contains(one.session());
        let kind = |one: &One| (!both(one) && !one.fingerprint.is_empty()).then(|| one.kind());
        let elsewhere = left.pair(|one| kind(one).map(|kind| (kind, one.step)));
        moved.extend(left.pair(kind));
        Changes {
            new: left.new,
            gone: left.old,
            moved,
            same: same.len() + elsewhere.len(),
            elsewhere: elsewhere.len(),
        }
    }
}

impl Changes {
    /// The worst severity of what is new: what `--fail-on` looks at.
    pub(super) fn worst_new(&self) -> Option<Severity> {
        self.new.iter().filter_map(|one| one.severity).max()
    }

    /// Writes them for people.
    pub(super) fn write(&self, out: &mut dyn Write, old: &Path, columns: usize) -> io::Result<()> {
        let bold = Style::new().bold();
        let name = old.display().to_string();
        let head = format!("compared with {}", screen::safe(&name));
        let elsewhere = match self.elsewhere {
            0 => String::new(),
            n => format!(" ({n} of them in sessions with other ids)"),
        };
        let counts = format!(
            "{} new, {} gone, {} moved, {} as before{elsewhere}",
            self.new.len(),
            self.gone.len(),
            self.moved.len(),
            self.same
        );
        write!(out, "{bold}{head}{bold:#}:")?;
        screen::wrap(out, &counts, screen::width(&head) + 1, 2, columns)?;
        let red = AnsiColor::Red.on_default();
        let green = AnsiColor::Green.on_default();
        let yellow = AnsiColor::Yellow.on_default();
        for one in &self.new {
            let severity = one.severity.map_or("", Severity::name);
            let text = format!("{severity} {}", line(one));
            write_one(out, red, "new", &text, columns)?;
        }
        for one in &self.gone {
            write_one(out, green, "gone", &line(one), columns)?;
        }
        for (from, to) in &self.moved {
            let session = match from.session() == to.session() {
                true => String::new(),
                false => format!("{} ", screen::cut(&screen::safe(from.session()), 34)),
            };
            let text = format!("{session}#{} -> {}", from.step, line(to));
            write_one(out, yellow, "moved", &text, columns)?;
        }
        writeln!(out)
    }

    /// One JSON object a change, for programs.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let new = self.new.iter().map(|one| object("new", None, one));
        let gone = self.gone.iter().map(|one| object("gone", None, one));
        let moved = self
            .moved
            .iter()
            .map(|(from, to)| object("moved", Some(from), to));
        new.chain(gone).chain(moved)
    }
}

/// A tool's name as records show it.
fn shown(tool: Option<&str>) -> String {
    printable(tool.unwrap_or_default()).into_owned()
}

fn object(change: &str, from: Option<&One>, one: &One) -> String {
    let (session, anomaly, tool, state) = &one.key;
    let object = serde_json::json!({
        "record": "change",
        "change": change,
        "type": anomaly,
        "session": session,
        "tool": if tool.is_empty() { None } else { Some(tool) },
        "state": state,
        "severity": one.severity.map(Severity::name),
        "span_id": one.span,
        "step": one.step,
        "from_session": from.map(|from| from.session()),
        "from_span_id": from.map(|from| &from.span),
        "from_step": from.map(|from| from.step),
    });
    // Only what is no JSON cannot be written.
    record::written(&object).unwrap_or_default()
}

fn line(one: &One) -> String {
    let (session, anomaly, _, state) = &one.key;
    let raised = if state == "raised" { ", raised" } else { "" };
    format!(
        "{}{raised}  {} #{}: {}",
        screen::safe(anomaly),
        screen::cut(&screen::safe(session), 34),
        one.step,
        screen::safe(&one.message)
    )
}

fn write_one(
    out: &mut dyn Write,
    style: Style,
    what: &str,
    text: &str,
    columns: usize,
) -> io::Result<()> {
    write!(out, "  {style}{what:<5}{style:#}")?;
    screen::wrap(out, text, 7, 8, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(session: &str, anomaly: &str, step: u64) -> One {
        One {
            key: (
                session.to_owned(),
                anomaly.to_owned(),
                "t".to_owned(),
                "opened".to_owned(),
            ),
            span: format!("{step:016x}"),
            fingerprint: format!("of {anomaly}"),
            step,
            message: format!("{anomaly} at {step}"),
            severity: Some(Severity::Warning),
        }
    }

    /// Sessions that both sides have.
    fn both(sessions: &[&str]) -> Compare {
        let all: BTreeSet<String> = sessions.iter().map(|s| (*s).to_owned()).collect();
        Compare {
            old_sessions: all.clone(),
            new_sessions: all,
            ..Compare::default()
        }
    }

    #[test]
    fn what_was_recorded_again_is_known_by_what_it_is() {
        let spanless = |one: One| One {
            span: "of another recording".to_owned(),
            ..one
        };
        let mut compare = both(&["kept"]);
        compare.old = vec![
            one("a", "stuck", 3),
            one("b", "stuck", 5),
            one("c", "loop", 5),
            one("kept", "ping_pong", 4),
            one("kept", "stuck", 9),
        ];
        compare.new = vec![
            one("x", "stuck", 5),
            one("y", "stuck", 4),
            one("z", "stuck", 4),
            // In a session that was there before, this one was not.
            one("kept", "loop", 5),
            spanless(one("kept", "ping_pong", 4)),
        ];
        let changes = compare.changes();
        assert_eq!((changes.same, changes.elsewhere), (2, 1));
        let moved = changes.moved.iter();
        let moved: Vec<_> = moved.map(|(a, b)| (a.session(), b.session())).collect();
        assert_eq!(moved, [("a", "y")]);
        let sessions = |ones: &[One]| -> Vec<String> {
            ones.iter().map(|one| one.session().to_owned()).collect()
        };
        assert_eq!(sessions(&changes.new), ["z", "kept"]);
        assert_eq!(sessions(&changes.gone), ["c", "kept"]);
    }

    #[test]
    fn an_output_without_fingerprints_is_compared_by_session_only() {
        let bare = |session: &str| One {
            fingerprint: String::new(),
            ..one(session, "stuck", 3)
        };
        let compare = Compare {
            old: vec![bare("a")],
            new: vec![bare("b")],
            ..Compare::default()
        };
        let changes = compare.changes();
        assert_eq!(
            (changes.same, changes.new.len(), changes.gone.len()),
            (0, 1, 1)
        );
    }

    #[test]
    fn each_earlier_finding_is_taken_once_and_in_order() {
        let unplaced = |step, message: &str| One {
            span: String::new(),
            message: message.to_owned(),
            ..one("s", "stuck", step)
        };
        let compare = Compare {
            old: vec![
                unplaced(1, "a"),
                unplaced(2, "b"),
                unplaced(1, "c"),
                one("s", "stuck", 4),
                one("s", "stuck", 4),
            ],
            new: vec![
                one("s", "stuck", 4),
                unplaced(1, "as before"),
                unplaced(7, "from b"),
                one("s", "stuck", 8),
            ],
            ..Compare::default()
        };
        let changes = compare.changes();
        assert_eq!(changes.same, 2);
        let moved = changes.moved.iter();
        let moved: Vec<_> = moved.map(|(old, new)| (old.step, new.step)).collect();
        assert_eq!(moved, [(2, 7), (1, 8)]);
        assert_eq!(changes.moved[1].0.message, "c");
        assert_eq!((changes.gone.len(), changes.new.len()), (1, 0));
    }

    #[test]
    fn new_gone_moved_and_as_before() {
        let compare = Compare {
            old: vec![
                one("s", "stuck", 3),
                one("s", "loop", 9),
                one("t", "stuck", 1),
                one("t", "stuck", 5),
            ],
            new: vec![
                one("s", "stuck", 4),
                one("u", "stuck", 3),
                one("t", "stuck", 5),
                one("t", "stuck", 7),
            ],
            ..both(&["s", "t", "u"])
        };
        let changes = compare.changes();
        let steps = |ones: &[One]| ones.iter().map(|o| o.step).collect::<Vec<_>>();
        assert_eq!(steps(&changes.new), [3]);
        assert_eq!(steps(&changes.gone), [9]);
        assert_eq!(changes.same, 1);
        let moved: Vec<_> = changes
            .moved
            .iter()
            .map(|(a, b)| (a.step, b.step))
            .collect();
        assert_eq!(moved, [(3, 4), (1, 7)]);
        assert_eq!(changes.worst_new(), Some(Severity::Warning));
        assert_eq!(changes.lines().count(), 4);
    }
}
