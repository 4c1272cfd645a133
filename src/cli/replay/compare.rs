//! `--compare OLD.jsonl`: what an earlier run of `replay --format json` found, against what is found now.
//!
//! Invariant: findings are one when session, type, tool and state are, and the step is; of those left over,
//! such with one session, type, tool and state have moved, in order; the rest are new or gone.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Deserialize;

use crate::cli::failure::Failure;
use crate::cli::screen;
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
    step: u64,
    message: String,
    severity: Option<Severity>,
}

impl One {
    /// Where it stands among those of its key: the span, or the step where none is named.
    fn place(&self) -> (String, u64) {
        let step = if self.span.is_empty() { self.step } else { 0 };
        (self.span.clone(), step)
    }
}

/// Earlier findings of one key, in their order; each is taken once, at the cost of a look-up.
#[derive(Debug, Default)]
struct Olds {
    all: Vec<Option<One>>,
    /// Where those of one place stand, in order.
    at: BTreeMap<(String, u64), VecDeque<usize>>,
    /// All before it are taken.
    first: usize,
}

impl Olds {
    fn push(&mut self, old: One) {
        let places = self.at.entry(old.place()).or_default();
        places.push_back(self.all.len());
        self.all.push(Some(old));
    }

    /// Takes the first one that stands at a place.
    fn take_at(&mut self, place: &(String, u64)) -> Option<One> {
        let at = self.at.get_mut(place)?.pop_front()?;
        self.all.get_mut(at)?.take()
    }

    /// Takes the first one that is left. From then on none is to be taken by its place.
    fn take_first(&mut self) -> Option<One> {
        while let Some(slot) = self.all.get_mut(self.first) {
            self.first += 1;
            if slot.is_some() {
                return slot.take();
            }
        }
        None
    }
}

/// Both sides.
#[derive(Debug, Default)]
pub(super) struct Compare {
    old: Vec<One>,
    new: Vec<One>,
}

/// What has become of the findings.
#[derive(Debug, Default)]
pub(super) struct Changes {
    new: Vec<One>,
    gone: Vec<One>,
    moved: Vec<(One, One)>,
    same: usize,
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
                Ok(old) if old.record == "finding" => compare.old.push(One {
                    key: (
                        old.session,
                        old.r#type,
                        shown(old.tool.as_deref()),
                        old.state,
                    ),
                    span: old.span_id,
                    step: old.step,
                    message: old.message,
                    severity: None,
                }),
                Ok(old) if old.record.is_empty() => {
                    unreadable.push((at + 1, "no record of replay: it has no `record`".to_owned()));
                }
                // Of sessions and changes nothing is compared.
                Ok(_) => {}
                Err(error) => unreadable.push((at + 1, format!("no record of replay: {error}"))),
            }
        }
        Ok((compare, unreadable))
    }

    /// Notes what is found now.
    pub(super) fn report(&mut self, report: &Report) {
        let finding = &report.finding;
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
            step: finding.judged().map_or(0, |member| member.step.into()),
            message: finding.message.clone(),
            severity: Some(report.severity),
        });
    }

    /// What has changed.
    pub(super) fn changes(self) -> Changes {
        let mut changes = Changes::default();
        let mut left: BTreeMap<Key, Olds> = BTreeMap::new();
        for old in self.old {
            left.entry(old.key.clone()).or_default().push(old);
        }
        let mut others = Vec::new();
        for new in self.new {
            let olds = left.get_mut(&new.key);
            match olds.and_then(|olds| olds.take_at(&new.place())) {
                Some(_) => changes.same += 1,
                None => others.push(new),
            }
        }
        for new in others {
            match left.get_mut(&new.key).and_then(Olds::take_first) {
                Some(old) => changes.moved.push((old, new)),
                None => changes.new.push(new),
            }
        }
        let gone = left.into_values().flat_map(|olds| olds.all);
        changes.gone = gone.flatten().collect();
        changes
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
        writeln!(
            out,
            "{bold}compared with {}{bold:#}: {} new, {} gone, {} moved, {} as before",
            screen::safe(&name),
            self.new.len(),
            self.gone.len(),
            self.moved.len(),
            self.same
        )?;
        let red = AnsiColor::Red.on_default();
        let green = AnsiColor::Green.on_default();
        let yellow = AnsiColor::Yellow.on_default();
        for one in &self.new {
            let severity = one.severity.map_or("", Severity::name);
            write_one(
                out,
                red,
                "new",
                &format!("{severity} {}", line(one)),
                columns,
            )?;
        }
        for one in &self.gone {
            write_one(out, green, "gone", &line(one), columns)?;
        }
        for (from, to) in &self.moved {
            let text = format!("#{} -> {}", from.step, line(to));
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
            step,
            message: format!("{anomaly} at {step}"),
            severity: Some(Severity::Warning),
        }
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
