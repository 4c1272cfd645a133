//! `--summary`: many sessions at once.
//!
//! Invariant: shares are of sessions, not of findings; a finding is an episode that was opened; what a session cost
//! is counted once (see [`Costs`]). Rows without findings are left out, and counted in a line below.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::cli::screen;
use crate::engine::ClosedRun;
use crate::model::{AnomalyType, EpisodeState, Name, Report, Severity, Step, TraceId, Waste};

use super::costs::Costs;
use super::table;

/// Sessions shown as the worst.
const WORST: usize = 10;
/// Rows of one table.
const ROWS_MAX: usize = 20;

/// Everything that the tables are made of.
#[derive(Debug, Default)]
pub(super) struct Summary {
    sessions: BTreeMap<Name, Session>,
    agents: HashMap<TraceId, BTreeSet<Name>>,
}

#[derive(Debug, Default)]
struct Session {
    service: Option<Name>,
    agents: BTreeSet<Name>,
    findings: u64,
    types: BTreeMap<AnomalyType, Part>,
    /// By agent; findings of none have the empty name.
    by_agent: BTreeMap<Name, Part>,
    worst: Option<(Severity, String)>,
    costs: Costs,
}

/// A part of what was found in a session.
#[derive(Debug, Default)]
struct Part {
    findings: u64,
    costs: Costs,
}

impl Part {
    fn join(&mut self, other: &Self) {
        self.findings += other.findings;
        self.costs.merge(&other.costs);
    }
}

/// One row of a table in the making.
#[derive(Debug, Default)]
struct Group {
    sessions: BTreeSet<Name>,
    guilty: BTreeSet<Name>,
    findings: u64,
    costs: Costs,
}

impl Summary {
    /// Notes which agents act in a run.
    pub(super) fn see(&mut self, step: &Step) {
        if let Some(agent) = &step.agent {
            let agents = self.agents.entry(step.trace).or_default();
            if !agents.contains(agent) {
                agents.insert(agent.clone());
            }
        }
    }

    /// Notes what was found.
    pub(super) fn report(&mut self, report: &Report) {
        let session = self.sessions.entry(report.session.clone()).or_default();
        let mut part = Part {
            findings: u64::from(report.state == EpisodeState::Opened),
            costs: Costs::default(),
        };
        if let Some(judged) = report.finding.judged() {
            part.costs.add(judged.trace, &report.waste);
        }
        session.note(report.finding.anomaly, report.agent.clone(), &part);
        session.note_worst(report.severity, &report.finding.message);
    }

    /// Notes the end of a run.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        // What was found before the run joined a conversation was told of the run.
        let alone = Name::from(closed.trace.to_string());
        let before = (alone != closed.session).then(|| self.sessions.remove(&alone));
        let session = self.sessions.entry(closed.session.clone()).or_default();
        if let Some(before) = before.flatten() {
            session.join(before);
        }
        session
            .service
            .get_or_insert_with(|| closed.service.name.clone());
        session
            .agents
            .extend(self.agents.remove(&closed.trace).unwrap_or_default());
    }

    /// Writes all tables; nothing where nothing was read.
    pub(super) fn write(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
        let all = self.sessions.len();
        if all == 0 {
            return Ok(());
        }
        let guilty = self.sessions.values().filter(|one| one.findings > 0);
        let guilty = guilty.count();
        let bold = Style::new().bold();
        writeln!(
            out,
            "{bold}{}{bold:#}: {} with findings, {} without\n",
            screen::count(all as u64, "session"),
            screen::grouped(guilty as u64),
            screen::grouped((all - guilty) as u64),
        )?;
        write_groups(out, "by service", &self.by_service(), columns)?;
        write_groups(out, "by agent", &self.by_agent(), columns)?;
        write_groups(out, "by type", &self.by_type(), columns)?;
        self.write_worst(out, guilty, columns)
    }

    fn by_service(&self) -> BTreeMap<Name, Group> {
        let mut groups: BTreeMap<Name, Group> = BTreeMap::new();
        for (name, session) in &self.sessions {
            let service = session.service.clone().unwrap_or_default();
            groups
                .entry(service)
                .or_default()
                .add(name, session.findings, &session.costs);
        }
        groups
    }

    fn by_agent(&self) -> BTreeMap<Name, Group> {
        let mut groups: BTreeMap<Name, Group> = BTreeMap::new();
        let nothing = Part::default();
        for (name, session) in &self.sessions {
            let mut agents: BTreeSet<&Name> = session.agents.iter().collect();
            agents.extend(session.by_agent.keys());
            for agent in agents {
                let part = session.by_agent.get(agent).unwrap_or(&nothing);
                groups
                    .entry(agent.clone())
                    .or_default()
                    .add(name, part.findings, &part.costs);
            }
        }
        groups
    }

    /// Every session could have had a finding of each type.
    fn by_type(&self) -> BTreeMap<Name, Group> {
        let mut groups: BTreeMap<Name, Group> = BTreeMap::new();
        for (name, session) in &self.sessions {
            for (anomaly, part) in &session.types {
                groups.entry(Name::from(anomaly.name())).or_default().add(
                    name,
                    part.findings,
                    &part.costs,
                );
            }
        }
        for group in groups.values_mut() {
            group.sessions.extend(self.sessions.keys().cloned());
        }
        groups
    }

    fn write_worst(&self, out: &mut dyn Write, guilty: usize, columns: usize) -> io::Result<()> {
        let mut worst: Vec<_> = self
            .sessions
            .iter()
            .filter_map(|(name, session)| {
                let (severity, message) = session.worst.as_ref()?;
                Some((*severity, session.costs.sum(), name, session, message))
            })
            .collect();
        if worst.is_empty() {
            return Ok(());
        }
        worst.sort_by(|a, b| {
            let key =
                |one: &(Severity, Waste, &Name, &Session, &String)| (one.0, one.1.calls, one.1.ms);
            key(b).cmp(&key(a)).then_with(|| a.2.cmp(b.2))
        });
        let which = match guilty {
            0..=WORST => "sessions with findings".to_owned(),
            more => format!(
                "the {WORST} worst of {} sessions with findings",
                screen::grouped(more as u64)
            ),
        };
        title(
            out,
            &format!("{which}, worst first: by severity, calls since onset, time since onset"),
            columns,
        )?;
        for (severity, waste, name, session, message) in worst.into_iter().take(WORST) {
            let style = colour(severity).on_default();
            let types: Vec<&str> = session.types.keys().map(|one| one.name()).collect();
            let line = format!(
                "{}  {}  {}  {}: {}",
                screen::cut(&screen::safe(name), columns / 4),
                screen::count(waste.calls.into(), "call"),
                screen::time(waste.ms),
                types.join(", "),
                screen::safe(message)
            );
            let line = screen::cut(&line, columns.saturating_sub(11));
            writeln!(out, "  {style}{:<8}{style:#} {line}", severity.name())?;
        }
        writeln!(out)
    }
}

const HEAD: [&str; 9] = [
    "", "sessions", "with", "share", "findings", "calls", "time", "tokens", "cost",
];

impl Session {
    fn note(&mut self, anomaly: AnomalyType, agent: Option<Name>, part: &Part) {
        self.findings += part.findings;
        self.costs.merge(&part.costs);
        self.types.entry(anomaly).or_default().join(part);
        let agent = agent.unwrap_or_else(|| Name::from(""));
        self.by_agent.entry(agent).or_default().join(part);
    }

    fn note_worst(&mut self, severity: Severity, message: &str) {
        let worst = self.worst.as_ref();
        if worst.is_none_or(|(known, _)| *known < severity) {
            self.worst = Some((severity, message.to_owned()));
        }
    }

    fn join(&mut self, other: Self) {
        self.findings += other.findings;
        self.costs.merge(&other.costs);
        self.agents.extend(other.agents);
        for (anomaly, part) in other.types {
            self.types.entry(anomaly).or_default().join(&part);
        }
        for (agent, part) in other.by_agent {
            self.by_agent.entry(agent).or_default().join(&part);
        }
        if let Some((severity, message)) = other.worst {
            self.note_worst(severity, &message);
        }
    }
}

impl Group {
    fn add(&mut self, session: &Name, findings: u64, costs: &Costs) {
        self.sessions.insert(session.clone());
        if findings > 0 {
            self.guilty.insert(session.clone());
        }
        self.findings += findings;
        self.costs.merge(costs);
    }
}

/// A row of a table, and by what it is sorted.
fn row(name: &str, group: &Group) -> (u64, [String; 9]) {
    let of = group.sessions.len();
    let guilty = group.guilty.len();
    let waste = group.costs.sum();
    let share = guilty.saturating_mul(1000).checked_div(of).unwrap_or(0);
    let unknown = || "-".to_owned();
    let cells = [
        screen::safe(name).into_owned(),
        screen::grouped(of as u64),
        screen::grouped(guilty as u64),
        format!("{}.{}%", share / 10, share % 10),
        screen::grouped(group.findings),
        screen::grouped(waste.calls.into()),
        screen::time(waste.ms),
        match waste.tokens {
            Some(tokens) if tokens > 0 => screen::grouped(tokens),
            _ => unknown(),
        },
        waste
            .cost_usd
            .map_or_else(unknown, |usd| format!("${usd:.2}")),
    ];
    (group.findings, cells)
}

/// Most findings first, then by name.
fn sorted(mut rows: Vec<(u64, [String; 9])>) -> Vec<[String; 9]> {
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    rows.into_iter().map(|(_, cells)| cells).collect()
}

/// A table of the groups in which something was found, and a line for the others.
fn write_groups(
    out: &mut dyn Write,
    what: &str,
    groups: &BTreeMap<Name, Group>,
    columns: usize,
) -> io::Result<()> {
    let (found, silent): (Vec<_>, Vec<_>) =
        groups.iter().partition(|(_, group)| group.findings > 0);
    if found.is_empty() {
        return Ok(());
    }
    title(out, what, columns)?;
    let rows = found.into_iter().map(|(name, group)| {
        let name = if name.is_empty() { "(no name)" } else { name };
        row(name, group)
    });
    let rows = sorted(rows.collect());
    table::write(out, HEAD, rows.get(..ROWS_MAX).unwrap_or(&rows), columns)?;
    if rows.len() > ROWS_MAX {
        writeln!(out, "  ... {} more", rows.len() - ROWS_MAX)?;
    }
    if !silent.is_empty() {
        let sessions: BTreeSet<&Name> = silent.iter().flat_map(|(_, one)| &one.sessions).collect();
        writeln!(
            out,
            "  {} more without findings, in {}",
            screen::grouped(silent.len() as u64),
            screen::count(sessions.len() as u64, "session")
        )?;
    }
    writeln!(out)
}

fn title(out: &mut dyn Write, text: &str, columns: usize) -> io::Result<()> {
    let bold = Style::new().bold();
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    write!(out, "{bold}{first}")?;
    screen::wrap(out, rest, screen::width(first), 1, columns)?;
    write!(out, "{bold:#}")
}

/// The colour of a severity.
pub(super) fn colour(severity: Severity) -> AnsiColor {
    match severity {
        Severity::Info => AnsiColor::Cyan,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Error | Severity::Critical => AnsiColor::Red,
    }
}
