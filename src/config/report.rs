//! What is wrong with a configuration, and how it is shown: `file:line:column: message`, the source line
//! with a caret, what is allowed.
//!
//! Invariant: a report never shows a secret, neither from the environment nor from a quoted line.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::tree::Place;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    Error,
    Warning,
}

/// One thing that is wrong, or looks wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) grade: Grade,
    /// Where, if it stands anywhere: something missing as a whole does not.
    pub(super) place: Option<Place>,
    pub(super) message: String,
    /// A second place that matters, with its label.
    pub(super) also: Option<(Place, &'static str)>,
    pub(super) help: Vec<String>,
    /// What stands there, when something of another kind was expected.
    pub(super) found: Option<String>,
}

impl Problem {
    /// An error at a place.
    pub(super) fn error(place: Place, message: impl Into<String>) -> Self {
        Self {
            grade: Grade::Error,
            place: Some(place),
            message: message.into(),
            also: None,
            help: Vec::new(),
            found: None,
        }
    }

    /// An error of the configuration as a whole.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self {
            grade: Grade::Error,
            place: None,
            message: message.into(),
            also: None,
            help: Vec::new(),
            found: None,
        }
    }

    /// Something allowed that is probably not meant.
    pub(super) fn warning(place: Place, message: impl Into<String>) -> Self {
        Self {
            grade: Grade::Warning,
            ..Self::error(place, message)
        }
    }

    /// With what stands there instead of what was expected.
    pub(super) fn found(mut self, found: String) -> Self {
        self.found = Some(found);
        self
    }

    /// Says more exactly what was expected.
    pub(super) fn expect(&mut self, expected: &str) {
        if let Some(found) = &self.found {
            self.message = format!("expected {expected}, found {found}");
        }
    }

    /// Adds a line of advice.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds lines of advice.
    pub(super) fn helps(mut self, help: impl IntoIterator<Item = String>) -> Self {
        self.help.extend(help);
        self
    }

    /// Adds a second place.
    pub(super) fn also(mut self, place: Place, label: &'static str) -> Self {
        self.also = Some((place, label));
        self
    }
}

/// A text that problems point into.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceText {
    pub(super) name: String,
    pub(super) text: String,
}

/// Problems of one load, in the order of the sources and their lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    sources: Vec<SourceText>,
    problems: Vec<Problem>,
}

impl Report {
    /// Sorts by line, errors before warnings of one place, each once. The texts at `secrets` are
    /// blanked before anything is shown.
    pub(super) fn new(
        mut sources: Vec<SourceText>,
        mut problems: Vec<Problem>,
        secrets: &[Place],
    ) -> Self {
        for (index, source) in sources.iter_mut().enumerate() {
            source.text = blanked(&source.text, index, secrets);
        }
        problems.sort_by(|a, b| {
            let key = |p: &Problem| (p.place.is_none(), p.place, p.grade);
            key(a).cmp(&key(b))
        });
        problems.dedup_by(|a, b| a.place == b.place && a.message == b.message);
        Self { sources, problems }
    }

    /// How many errors it holds.
    pub fn errors(&self) -> usize {
        self.count(Grade::Error)
    }

    /// How many warnings it holds.
    pub fn warnings(&self) -> usize {
        self.count(Grade::Warning)
    }

    fn count(&self, grade: Grade) -> usize {
        self.problems.iter().filter(|p| p.grade == grade).count()
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// One line per problem, `file:line:column: message; help`, for logs.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(|problem| {
            let title = [self.title(problem)];
            let parts: Vec<String> = title.into_iter().chain(problem.help.clone()).collect();
            parts.join("; ")
        })
    }

    /// The whole text for people; `styled` adds ANSI colours.
    pub fn render(&self, styled: bool) -> String {
        let renderer = if styled {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let shown: Vec<String> = self
            .problems
            .iter()
            .map(|problem| renderer.render(&[self.group(problem)]))
            .collect();
        shown.join("\n\n")
    }

    fn group<'a>(&'a self, problem: &'a Problem) -> Group<'a> {
        let level = match problem.grade {
            Grade::Error => Level::ERROR,
            Grade::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.no_name().primary_title(self.title(problem)));
        if let Some(snippet) = self.snippets(problem) {
            group = group.element(snippet);
        }
        for help in &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        group
    }

    fn title(&self, problem: &Problem) -> String {
        let grade = match problem.grade {
            Grade::Error => "",
            Grade::Warning => "warning: ",
        };
        let at = problem.place.map(|place| self.position(place));
        let mut title = match at {
            Some(at) => format!("{at}: {grade}{}", problem.message),
            None => format!("{grade}{}", problem.message),
        };
        if let Some((place, label)) = problem.also {
            title.push_str(&format!(" ({label}: {})", self.position(place)));
        }
        title
    }

    /// `file:line:column`, both counted from 1, columns in characters.
    fn position(&self, place: Place) -> String {
        let Some(source) = self.sources.get(place.source) else {
            return String::from("?");
        };
        let before = source.text.get(..place.start).unwrap_or(&source.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        format!("{}:{line}:{column}", source.name)
    }

    /// The lines of a problem: its own, and the second place when that is in the same source.
    fn snippets<'a>(&'a self, problem: &Problem) -> Option<Snippet<'a, Annotation<'a>>> {
        let place = problem.place?;
        let source = self.sources.get(place.source)?;
        let caret = AnnotationKind::Primary.span(within_line(&source.text, place));
        let snippet = Snippet::source(source.text.as_str()).annotation(caret);
        Some(match problem.also {
            Some((second, label)) if second.source == place.source => snippet.annotation(
                AnnotationKind::Context
                    .span(within_line(&source.text, second))
                    .label(label),
            ),
            _ => snippet,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Report {}

/// The bytes of a place up to the end of its first line.
fn within_line(text: &str, place: Place) -> Range<usize> {
    let start = place.start.min(text.len());
    let rest = text.get(start..).unwrap_or("");
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    let end = place.end.clamp(start, start + line);
    start..end
}

/// The same text, of the same length, with the bytes of secrets replaced.
fn blanked(text: &str, source: usize, secrets: &[Place]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for place in secrets.iter().filter(|place| place.source == source) {
        for byte in bytes.get_mut(place.start..place.end).into_iter().flatten() {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b'*';
            }
        }
    }
    // Places lie on character boundaries, so this never replaces anything more.
    String::from_utf8_lossy(&bytes).into_owned()
}
