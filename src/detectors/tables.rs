//! The detectors of an engine: the processor's, and others where an override says so.
//!
//! Invariant: which of them judge a step depends on its resource, its lane's agent and its tool alone, so a
//! step judged again is judged by the same ones. No glob is matched for a step: tools and agents are
//! matched when they are met first, resources when they are read.

use foldhash::quality::RandomState;
use globset::GlobMatcher;
use hashbrown::HashMap;

use crate::lanes::{NameId, Names};
use crate::model::{AnomalyType, Name};

use super::{Rules, Scope, Settings, Table};

/// One entry of `overrides`, as far as it is about steps; see [`crate::model::Step::audience`] for the rest.
#[derive(Clone, Debug)]
pub struct Override {
    /// Whose steps, by name; `None`: everybody's, those of nobody known as well.
    pub agent: Option<GlobMatcher>,
    /// Of which tools; `None`: all steps, model answers as well.
    pub tool: Option<GlobMatcher>,
    /// The detectors for them, the processor's own settings included.
    pub settings: Settings,
}

/// Whose step is judged.
#[derive(Clone, Copy, Debug)]
pub struct Who<'a> {
    /// See [`crate::model::Step::audience`].
    pub audience: u64,
    /// The agent of its lane, where it has a name.
    pub agent: Option<&'a Name>,
    /// The tool called, or asked for by a model answer.
    pub tool: Option<NameId>,
}

/// One of the [`Tables`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice(usize);

/// All tables of an engine.
#[derive(Debug)]
pub struct Tables {
    /// The processor's first, then one for each distinct override.
    tables: Vec<Table>,
    overrides: Vec<Meant>,
    /// Overrides that mean a tool, by the index of its name.
    tools: Vec<u64>,
    /// Overrides that mean an agent.
    agents: HashMap<Name, u64, RandomState>,
    /// Overrides that mean steps without a tool, and of agents without a name.
    no_tool: u64,
    no_agent: u64,
}

/// Whom an override means, and by what they are judged.
#[derive(Debug)]
struct Meant {
    agent: Option<GlobMatcher>,
    tool: Option<GlobMatcher>,
    choice: Choice,
}

impl Tables {
    /// Agents whose overrides are remembered; those beyond are matched each time.
    const AGENTS_MAX: usize = 65_536;

    /// Builds all tables; `rules` is the processor's choice.
    pub fn new(settings: &Settings, overrides: &[Override], rules: Rules) -> Self {
        let distinct = distinct(settings, overrides);
        let mut meant = Vec::with_capacity(overrides.len());
        for one in overrides {
            let at = distinct.iter().position(|other| **other == one.settings);
            meant.push(Meant {
                agent: one.agent.clone(),
                tool: one.tool.clone(),
                choice: Choice(at.unwrap_or(0)),
            });
        }
        Self {
            tables: distinct
                .into_iter()
                .map(|settings| Table::new(settings, rules))
                .collect(),
            no_tool: bits(&meant, |one| one.tool.is_none()),
            no_agent: bits(&meant, |one| one.agent.is_none()),
            overrides: meant,
            tools: Vec::new(),
            agents: HashMap::default(),
        }
    }

    /// How many calls back the widest window of all looks.
    pub fn window_max(&self) -> usize {
        let windows = self.tables.iter().map(Table::window_max);
        windows.max().unwrap_or(Table::WINDOW_MIN)
    }

    /// Whether any of them watches a budget.
    pub fn has_budgets(&self) -> bool {
        self.tables.iter().any(Table::has_budgets)
    }

    /// Whether any of them has a budget that timers watch.
    pub fn has_timers(&self) -> bool {
        self.tables.iter().any(|table| table.time().is_some())
    }

    /// What a budget is for, by the table chosen; `None` for types that are none or not judged.
    pub fn budget_of(&self, choice: Choice, anomaly: AnomalyType) -> Option<Scope> {
        self.get(choice)?.budget_of(anomaly)
    }

    /// The types judged by any of them, in order of report.
    pub fn types(&self) -> impl Iterator<Item = AnomalyType> + '_ {
        AnomalyType::ALL.into_iter().filter(|anomaly| {
            let mut all = self.tables.iter().flat_map(Table::types);
            all.any(|other| other == *anomaly)
        })
    }

    /// Matches what has not been met before: all names of tools, and the agent that a step names.
    pub fn meet(&mut self, names: &Names, agent: Option<&Name>) {
        if self.overrides.is_empty() {
            return;
        }
        let known = self.tools.len();
        for name in names.all().get(known..).unwrap_or_default() {
            let means = |one: &Meant| one.tool.as_ref().is_none_or(|glob| glob.is_match(&**name));
            self.tools.push(bits(&self.overrides, means));
        }
        if let Some(agent) = agent
            && self.agents.len() < Self::AGENTS_MAX
            && !self.agents.contains_key(agent)
        {
            self.agents.insert(agent.clone(), self.match_agent(agent));
        }
    }

    /// By which table a step is judged: that of the first override that means it, else the processor's.
    pub fn choose(&self, who: &Who<'_>) -> Choice {
        if who.audience == 0 {
            return Choice::default();
        }
        let tool = who.tool.and_then(|tool| self.tools.get(tool.index()));
        let agent = match who.agent {
            None => self.no_agent,
            Some(agent) => match self.agents.get(agent) {
                Some(known) => *known,
                None => self.match_agent(agent),
            },
        };
        let meant = who.audience & agent & tool.copied().unwrap_or(self.no_tool);
        let first = usize::try_from(meant.trailing_zeros()).unwrap_or(usize::MAX);
        self.overrides
            .get(first)
            .map_or(Choice::default(), |one| one.choice)
    }

    /// The table chosen.
    pub fn get(&self, choice: Choice) -> Option<&Table> {
        self.tables.get(choice.0)
    }

    /// The settings of the table chosen, found again among those that all of them were built from.
    pub fn settings_of<'s>(
        choice: Choice,
        settings: &'s Settings,
        overrides: &'s [Override],
    ) -> &'s Settings {
        let distinct = distinct(settings, overrides);
        distinct.get(choice.0).copied().unwrap_or(settings)
    }

    fn match_agent(&self, agent: &Name) -> u64 {
        bits(&self.overrides, |one| {
            one.agent
                .as_ref()
                .is_none_or(|glob| glob.is_match(&**agent))
        })
    }
}

/// The settings that differ, the processor's first.
fn distinct<'s>(settings: &'s Settings, overrides: &'s [Override]) -> Vec<&'s Settings> {
    let mut distinct = vec![settings];
    for one in overrides {
        if !distinct.iter().any(|other| **other == one.settings) {
            distinct.push(&one.settings);
        }
    }
    distinct
}

fn bits(overrides: &[Meant], means: impl Fn(&Meant) -> bool) -> u64 {
    let meant = overrides.iter().take(64).enumerate();
    meant
        .filter(|(_, one)| means(one))
        .fold(0, |all, (at, _)| all | 1 << at)
}
