//! `--summary`: many sessions at once.
//!
//! Invariant: shares are of sessions, not of findings; what a session cost is counted once (see
//! [`Costs`]); what could not be judged is said beside what was found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::cli::screen;
use crate::engine::ClosedRun;
use crate::model::{AnomalyType, Lack, Name, Report, Severity, Step, TraceId, Waste};

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
    types: BTreeMap<AnomalyType, Group>,
}

#[derive(Debug, Default)]
struct Session {
    service: Option<Name>,
    agents: BTreeSet<Name>,
    findings: u64,
    types: Vec<AnomalyType>,
    by_agent: BTreeMap<Name, (u64, Costs)>,
    worst: Option<(Severity, String)>,
    costs: Costs,
    lacks: BTreeMap<Lack, BTreeSet<&'static str>>,
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
        let anomaly = report.finding.anomaly;
        session.findings += 1;
        if !session.types.contains(&anomaly) {
            session.types.push(anomaly);
        }
        if session
            .worst
            .as_ref()
            .is_none_or(|(severity, _)| *severity < report.severity)
        {
            session.worst = Some((report.severity, report.finding.message.clone()));
        }
        let Some(run) = report.finding.judged().map(|member| member.trace) else {
            return;
        };
        session.costs.add(run, &report.waste);
        if let Some(agent) = &report.agent {
            let (findings, costs) = session.by_agent.entry(agent.clone()).or_default();
            *findings += 1;
            costs.add(run, &report.waste);
            session.agents.insert(agent.clone());
        }
        let group = self.types.entry(anomaly).or_default();
        group.findings += 1;
        group.guilty.insert(report.session.clone());
        group.costs.add(run, &report.waste);
    }

    /// Notes the end of a run.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        let session = self.sessions.entry(closed.session.clone()).or_default();
        session
            .service
            .get_or_insert_with(|| closed.service.name.clone());
        session
            .agents
            .extend(self.agents.remove(&closed.trace).unwrap_or_default());
        for (anomaly, lacks) in &closed.not_assessed {
            for lack in lacks {
                session
                    .lacks
                    .entry(*lack)
                    .or_default()
                    .insert(anomaly.name());
            }
        }
    }

    /// Writes all tables.
    pub(super) fn write(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
        let all = self.sessions.len();
        self.write_groups(out, "by service", self.by_service(), all, columns)?;
        let agents = self.by_agent();
        if !agents.is_empty() {
            self.write_groups(out, "by agent", agents, all, columns)?;
        }
        if !self.types.is_empty() {
            let rows = self
                .types
                .iter()
                .map(|(anomaly, group)| (anomaly.name().to_owned(), group));
            let rows: Vec<_> = rows.map(|(name, group)| row(&name, group, all)).collect();
            title(out, "by type")?;
            table::write(out, HEAD, &sorted(rows), columns)?;
            writeln!(out)?;
        }
        self.write_worst(out, columns)?;
        self.write_lacks(out, columns)
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
        let nothing = (0, Costs::default());
        for (name, session) in &self.sessions {
            for agent in &session.agents {
                let (findings, costs) = session.by_agent.get(agent).unwrap_or(&nothing);
                groups
                    .entry(agent.clone())
                    .or_default()
                    .add(name, *findings, costs);
            }
        }
        groups
    }

    fn write_groups(
        &self,
        out: &mut dyn Write,
        what: &str,
        groups: BTreeMap<Name, Group>,
        all: usize,
        columns: usize,
    ) -> io::Result<()> {
        title(out, what)?;
        let rows = groups.iter().map(|(name, group)| {
            let name = if name.is_empty() { "(no name)" } else { name };
            row(name, group, group.sessions.len().min(all))
        });
        let rows = sorted(rows.collect());
        table::write(out, HEAD, rows.get(..ROWS_MAX).unwrap_or(&rows), columns)?;
        if rows.len() > ROWS_MAX {
            writeln!(out, "  ... {} more", rows.len() - ROWS_MAX)?;
        }
        writeln!(out)
    }

    fn write_worst(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
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
        title(out, "worst sessions")?;
        for (severity, waste, name, session, message) in worst.into_iter().take(WORST) {
            let style = colour(severity).on_default();
            let types: Vec<&str> = session.types.iter().map(|anomaly| anomaly.name()).collect();
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

    fn write_lacks(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
        // In the order of `Lack`, in which those with one remedy stand together but for definitions.
        let mut lacks: BTreeMap<(bool, Lack), (usize, BTreeSet<&'static str>)> = BTreeMap::new();
        for session in self.sessions.values() {
            for (lack, types) in &session.lacks {
                let late = *lack == Lack::NoDefinitions;
                let (sessions, all) = lacks.entry((late, *lack)).or_default();
                *sessions += 1;
                all.extend(types);
            }
        }
        if lacks.is_empty() {
            return Ok(());
        }
        title(out, "not assessed")?;
        let mut rest = lacks.iter().peekable();
        while let Some(((_, lack), (sessions, types))) = rest.next() {
            let types: Vec<&str> = types.iter().copied().collect();
            write!(out, "  {}:", lack.words())?;
            let sessions = screen::count(*sessions as u64, "session");
            let text = format!("{} in {sessions}", types.join(", "));
            screen::wrap(out, &text, 3 + lack.words().len(), 4, columns)?;
            let remedy = remedy(*lack);
            if rest
                .peek()
                .is_none_or(|((_, next), _)| self::remedy(*next) != remedy)
            {
                write!(out, "    ->")?;
                screen::wrap(out, remedy, 6, 6, columns)?;
            }
        }
        writeln!(out)
    }
}

const HEAD: [&str; 9] = [
    "", "sessions", "with", "share", "findings", "calls", "time", "tokens", "cost",
];

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
fn row(name: &str, group: &Group, of: usize) -> (u64, [String; 9]) {
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

fn title(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let bold = Style::new().bold();
    writeln!(out, "{bold}{text}{bold:#}")
}

/// The colour of a severity.
pub(super) fn colour(severity: Severity) -> AnsiColor {
    match severity {
        Severity::Info => AnsiColor::Cyan,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Error | Severity::Critical => AnsiColor::Red,
    }
}

/// What gives a detector what it lacks.
const fn remedy(lack: Lack) -> &'static str {
    match lack {
        Lack::NoArguments | Lack::NoResults | Lack::NoText => {
            "switch the capture of content on: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT for OpenTelemetry's \
             instrumentations, OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS left unset for OpenInference, \
             your SDK's own switch otherwise (docs/detectors.md, Switching capture on)"
        }
        Lack::NoDefinitions => "have the definitions of tools recorded on model spans",
        Lack::LaneUnknown => {
            "have spans name their agent, or hang calls of one agent under one parent"
        }
        Lack::Truncated => "texts were longer than what is read of one; nothing to switch",
        Lack::NoGoal => {
            "have the messages of users recorded on model spans; no call shared a word with them"
        }
        Lack::NoWorkspace => {
            "set processors.anomaly.workspace.root, or the resource attribute process.working_directory"
        }
        Lack::NoToolSpans => {
            "instrument the tools, or the framework that runs them: no span tells of a call"
        }
        Lack::NoModelSpans => {
            "instrument the model's client, or the framework: no span tells of an answer"
        }
        Lack::NoUsage => "have tokens and cost recorded on model spans",
        Lack::Unparsed => "commands or paths that only their shell understands; nothing to switch",
    }
}
