//! YAML -> configuration as typed, with positions -> [`Settings`], checked.
//!
//! Invariant: loading is pure (texts and a look-up of the environment come in as arguments), never
//! panics, and reports everything that is wrong at once, each with `file:line:column`.

mod anomaly;
mod build;
mod components;
mod defaults;
mod detectors;
mod dialects;
mod endpoints;
mod expand;
mod extensions;
mod globs;
mod ignore;
mod limits;
mod merge;
mod migrate;
mod origin;
mod overrides;
mod parse;
mod pipelines;
mod places;
mod print;
mod problems;
mod reader;
mod report;
mod routes;
mod rules;
mod secrets;
mod security;
mod sending;
mod settings;
mod suggest;
mod tree;
mod whom;
mod wrong;

pub use build::Purpose;
pub use components::{Component, components};
pub use migrate::{Migrated, Unmigrated, migrate};
pub use report::Report;
pub use settings::{Exporter, Pipeline, Receiver, Settings, Takes};

use crate::model::Timestamp;
use problems::Problems;
use report::{Problem, SourceText};
use secrets::Secrecy;
use tree::{Node, Place};

/// Largest configuration text, in bytes.
pub const TEXT_MAX: u64 = 1 << 20;

/// A configuration text and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What reports call it: the file's path, `env:NAME`, `yaml:`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Keys may be paths (`exporters::debug::verbosity: basic`), as in a `yaml:` argument.
    pub paths: bool,
}

impl Source {
    /// The text of a file.
    pub fn file(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            paths: false,
        }
    }
}

/// What is allowed but probably not meant.
pub type Warnings = Report;

/// Reads what `agent-sentinel run` needs: all sources, later ones over earlier ones, then `overrides`
/// (`--set path=value`), with the environment expanded. `now` tells what is out of date.
///
/// # Errors
/// Everything that is wrong, warnings included.
pub fn load(
    sources: &[Source],
    overrides: &[(String, String)],
    env: &dyn Fn(&str) -> Option<String>,
    now: Timestamp,
) -> Result<(Settings, Warnings), Report> {
    load_for(Purpose::Run, sources, overrides, env, now)
}

/// As [`load`], for a purpose.
///
/// # Errors
/// Everything that is wrong, warnings included.
pub fn load_for(
    purpose: Purpose,
    sources: &[Source],
    overrides: &[(String, String)],
    env: &dyn Fn(&str) -> Option<String>,
    now: Timestamp,
) -> Result<(Settings, Warnings), Report> {
    let mut load = Load::new(sources, overrides);
    let settings = load
        .tree(sources, overrides)
        .map(|mut root| load.settings(&mut root, purpose, env, now));
    match settings {
        Some(settings) if load.problems.errors() == 0 => Ok((settings, load.report())),
        _ => Err(load.report()),
    }
}

/// The merged configuration as YAML, environment expanded, secrets replaced by `***`.
///
/// # Errors
/// What keeps the texts from being read and merged; the meaning of keys is not looked at.
pub fn effective(
    sources: &[Source],
    overrides: &[(String, String)],
    env: &dyn Fn(&str) -> Option<String>,
    printing: Printing,
) -> Result<String, Report> {
    let mut load = Load::new(sources, overrides);
    let printed = load.tree(sources, overrides).map(|mut root| {
        expand::expand(&mut root, env, &mut load.problems);
        let ours = load.texts.len();
        if printing.defaults {
            root = defaults::under(root, ours);
        }
        if printing.json {
            return print::json(&root);
        }
        let origin = |node: &tree::Node| {
            let origin = || origin::of(node, &load.texts);
            printing.origin.then(origin)
        };
        print::yaml(&root, &origin)
    });
    match printed {
        Some(printed) if load.problems.errors() == 0 => Ok(printed),
        _ => Err(load.report()),
    }
}

/// How a configuration is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printing {
    /// With what holds where nothing is said.
    pub defaults: bool,
    /// Each value with where it comes from. Not in JSON, which has no comments.
    pub origin: bool,
    /// As JSON.
    pub json: bool,
}

/// One load on its way.
struct Load {
    texts: Vec<SourceText>,
    problems: Problems,
    secrets: Vec<Place>,
}

impl Load {
    fn new(sources: &[Source], overrides: &[(String, String)]) -> Self {
        let files = sources.iter().map(|source| SourceText {
            name: source.name.clone(),
            text: source.text.clone(),
        });
        let sets = overrides.iter().map(|(path, value)| SourceText {
            name: "--set".to_owned(),
            text: format!("{path}={value}"),
        });
        Self {
            texts: files.chain(sets).collect(),
            problems: Problems::default(),
            secrets: Vec::new(),
        }
    }

    /// All sources parsed and merged; `None` when the grammar of one is broken.
    fn tree(&mut self, sources: &[Source], overrides: &[(String, String)]) -> Option<Node> {
        let mut trees = Vec::new();
        let mut broken = false;
        for (index, source) in sources.iter().enumerate() {
            match self.parse(index, source) {
                Some(tree) => trees.push(tree),
                None => broken = true,
            }
        }
        for (index, (path, value)) in overrides.iter().enumerate() {
            let index = sources.len() + index;
            if let Some(tree) = merge::from_override(index, path, value, &mut self.problems) {
                secrets::places(&tree, Secrecy::Root, &mut self.secrets);
                trees.push(tree);
            }
        }
        if broken {
            return None;
        }
        let mut trees = trees.into_iter();
        let mut root = trees.next().unwrap_or_else(|| {
            Node::empty_map(Place {
                source: 0,
                start: 0,
                end: 0,
            })
        });
        for tree in trees {
            merge::merge(&mut root, tree, &mut self.problems);
        }
        Some(root)
    }

    fn parse(&mut self, index: usize, source: &Source) -> Option<Node> {
        let whole = Place {
            source: index,
            start: 0,
            end: 0,
        };
        if source.text.len() as u64 > TEXT_MAX {
            let message = format!("longer than {TEXT_MAX} bytes");
            self.problems.push(Problem::error(whole, message));
            return None;
        }
        let Some(node) = parse::parse(index, 0, &source.text, &mut self.problems) else {
            secrets::places_in_text(index, &source.text, &mut self.secrets);
            return None;
        };
        secrets::places(&node, Secrecy::Root, &mut self.secrets);
        if node.is_null() {
            return Some(Node::empty_map(node.place));
        }
        if !matches!(node.value, tree::Value::Map(_)) {
            self.problems.push(
                Problem::error(node.place, "a configuration is a map of keys and values").help(
                    "it starts with receivers:, processors:, exporters:, extensions: or service:",
                ),
            );
            return None;
        }
        Some(if source.paths {
            merge::unfold_paths(node, &mut self.problems)
        } else {
            node
        })
    }

    fn settings(
        &mut self,
        root: &mut Node,
        purpose: Purpose,
        env: &dyn Fn(&str) -> Option<String>,
        now: Timestamp,
    ) -> Settings {
        expand::expand(root, env, &mut self.problems);
        build::build(root, purpose, now, &mut self.problems)
    }

    fn report(self) -> Report {
        Report::new(self.texts, self.problems.into_list(), &self.secrets)
    }
}
