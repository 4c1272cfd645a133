//! YAML text -> tree. Anchors, aliases and merge keys are resolved here, within a budget.
//!
//! Invariant: no text panics, and the work done is bounded by the length of the text plus
//! [`ALIAS_NODES_MAX`].

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Scanner, Span, StrInput};

use super::problems::Problems;
use super::report::Problem;
use super::tree::{DEPTH_MAX, Entry, Node, Place, Scalar, Value};

/// Most nodes that aliases and merge keys may add to one document.
const ALIAS_NODES_MAX: usize = 10_000;

/// Most nodes under anchors; each is kept twice.
const ANCHORED_NODES_MAX: usize = 100_000;

/// Reads one document. `base` is where `text` starts in its source. `None` when the grammar itself is
/// broken; what else is wrong (duplicates, aliases) is reported and left out.
pub(super) fn parse(
    source: usize,
    base: usize,
    text: &str,
    problems: &mut Problems,
) -> Option<Node> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let mut builder = Builder {
        parser: Parser::new_from_str_with_options(text, options),
        source,
        base,
        text,
        anchors: HashMap::new(),
        aliased: 0,
        anchored: 0,
        problems,
    };
    builder.document().ok()
}

/// The grammar is broken and the problem reported.
struct Broken;

struct Builder<'a, 'p> {
    parser: Parser<'a, StrInput<'a>>,
    source: usize,
    base: usize,
    text: &'a str,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    anchored: usize,
    problems: &'p mut Problems,
}

impl<'a> Builder<'a, '_> {
    fn document(&mut self) -> Result<Node, Broken> {
        let mut root = None;
        while let Some((event, span)) = self.next()? {
            match event {
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                _ if root.is_some() => {
                    let place = self.place(span);
                    self.problems
                        .push(Problem::error(place, "a second document in one file").help(
                        "give each document as a file of its own: --config a.yaml --config b.yaml",
                    ));
                    break;
                }
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        Ok(root.unwrap_or_else(|| {
            Node::empty_map(Place {
                source: self.source,
                start: self.base,
                end: self.base,
            })
        }))
    }

    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, Broken> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok(found)) => Ok(Some(found)),
            Some(Err(error)) => {
                let problem = syntax_problem(self.source, self.base, self.text, &error);
                self.problems.push(problem);
                Err(Broken)
            }
        }
    }

    fn place(&self, span: Span) -> Place {
        let start = span.start.byte_offset().unwrap_or(0).min(self.text.len());
        let end = span.end.byte_offset().unwrap_or(start);
        Place {
            source: self.source,
            start: self.base + start,
            end: self.base + end.clamp(start, self.text.len()),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Broken> {
        let place = self.place(span);
        if let Some(tag) = event.tag().filter(|tag| !tag.is_yaml_core_schema()) {
            self.problems.push(Problem::error(
                place,
                format!("tag `{}` is not known", tag.original()),
            ));
        }
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let forced = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let scalar = Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain && !forced,
                    typed: None,
                };
                let value = Value::Scalar(scalar);
                (anchor, Node { place, value })
            }
            Event::SequenceStart(_, anchor, _) => (anchor, self.list(place, depth)?),
            Event::MappingStart(_, anchor, _) => (anchor, self.map(place, depth)?),
            Event::Alias(id) => (0, self.alias(id, place, depth)),
            _ => (0, nothing(place)),
        };
        if anchor != 0 {
            self.anchored += node.size();
            if self.anchored <= ANCHORED_NODES_MAX {
                self.anchors.insert(anchor, node.clone());
            } else {
                self.problems.push(Problem::error(
                    place,
                    format!("anchors hold more than {ANCHORED_NODES_MAX} values"),
                ));
                return Err(Broken);
            }
        }
        Ok(node)
    }

    fn list(&mut self, place: Place, depth: usize) -> Result<Node, Broken> {
        let mut members = Vec::new();
        while let Some((event, span)) = self.next()? {
            if event == Event::SequenceEnd {
                break;
            }
            members.push(self.node(event, span, depth + 1)?);
        }
        let value = Value::List(members);
        Ok(Node { place, value })
    }

    fn map(&mut self, place: Place, depth: usize) -> Result<Node, Broken> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut merges = Vec::new();
        while let Some((event, span)) = self.next()? {
            if event == Event::MappingEnd {
                break;
            }
            let key = self.node(event, span, depth + 1)?;
            let Some((event, span)) = self.next()? else {
                break;
            };
            let value = self.node(event, span, depth + 1)?;
            let Value::Scalar(Scalar { text, plain, .. }) = key.value else {
                self.problems.push(self.odd_key(key.place));
                continue;
            };
            if plain && text == "<<" {
                merges.push(value);
            } else if let Some(first) = index.get(&text).and_then(|at| entries.get(*at)) {
                let problem = Problem::error(key.place, format!("duplicate key `{text}`"));
                self.problems
                    .push(problem.also(first.key_place, "first here"));
            } else {
                index.insert(text.clone(), entries.len());
                entries.push(Entry {
                    key: text,
                    key_place: key.place,
                    value,
                });
            }
        }
        for merge in merges {
            self.merge(merge, &mut entries, &mut index);
        }
        let value = Value::Map(entries);
        Ok(Node { place, value })
    }

    /// `<<`: keys that the map does not have itself; of several maps the first to have a key wins.
    fn merge(&mut self, merge: Node, entries: &mut Vec<Entry>, index: &mut HashMap<String, usize>) {
        match merge.value {
            Value::Map(merged) => {
                for entry in merged {
                    if !index.contains_key(&entry.key) {
                        index.insert(entry.key.clone(), entries.len());
                        entries.push(entry);
                    }
                }
            }
            Value::List(members) if members.iter().all(|m| matches!(m.value, Value::Map(_))) => {
                for member in members {
                    self.merge(member, entries, index);
                }
            }
            _ => self.problems.push(Problem::error(
                merge.place,
                "`<<` takes a map, an alias of one, or a list of those",
            )),
        }
    }

    fn alias(&mut self, id: usize, place: Place, depth: usize) -> Node {
        let Some(node) = self.anchors.get(&id) else {
            self.problems.push(Problem::error(
                place,
                "an alias inside the value that it stands for",
            ));
            return nothing(place);
        };
        self.aliased = self.aliased.saturating_add(node.size());
        if self.aliased > ALIAS_NODES_MAX {
            // Said once: the counter stays beyond the limit.
            if self.aliased != usize::MAX {
                self.aliased = usize::MAX;
                self.problems.push(Problem::error(
                    place,
                    format!("aliases add up to more than {ALIAS_NODES_MAX} values"),
                ));
            }
            return nothing(place);
        }
        if depth + node.depth() > DEPTH_MAX {
            let message = format!("nested deeper than {DEPTH_MAX} levels by this alias");
            self.problems.push(Problem::error(place, message));
            return nothing(place);
        }
        node.clone()
    }

    /// A key that is a map or a list; mostly a reference that YAML took for one.
    fn odd_key(&self, place: Place) -> Problem {
        let problem = Problem::error(place, "a key has to be a text");
        if before(self.text, place.start - self.base).ends_with('$') {
            problem.help(QUOTE_HINT)
        } else {
            problem
        }
    }
}

const QUOTE_HINT: &str = "inside {...} and [...] a reference has to be quoted: \"${env:NAME}\"";

fn before(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

fn nothing(place: Place) -> Node {
    Node {
        place,
        value: Value::Scalar(Scalar {
            text: String::new(),
            plain: true,
            typed: None,
        }),
    }
}

fn syntax_problem(source: usize, base: usize, text: &str, error: &ScanError) -> Problem {
    let noticed = error.marker().byte_offset().unwrap_or(text.len());
    let at = match error.kind() {
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::DocumentIndicatorInQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent => opening_quote(text).unwrap_or(noticed),
        _ => noticed,
    };
    let at = base + at.min(text.len());
    let place = Place {
        source,
        start: at,
        end: at,
    };
    let (message, help) = match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => (
            "a tab where only spaces may indent".to_owned(),
            Some("replace the tab by spaces"),
        ),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quote that is never closed".to_owned(), None)
        }
        ErrorKind::InvalidQuotedScalarIndent => (
            "a quote that is closed neither on its line nor on an indented one".to_owned(),
            None,
        ),
        ErrorKind::RecursionLimitExceeded => {
            (format!("nested deeper than {DEPTH_MAX} levels"), None)
        }
        ErrorKind::UnknownAnchor => ("an alias of an anchor that is not set".to_owned(), None),
        kind => (kind.to_string(), None),
    };
    let problem = Problem::error(place, message);
    let line = text.lines().nth(error.marker().line().saturating_sub(1));
    match help {
        Some(help) => problem.help(help),
        None if line.is_some_and(|line| line.contains("${")) => problem.help(QUOTE_HINT),
        None => problem,
    }
}

/// Where the quote opens that the scanner found open at the end: the first quote after the last good
/// token. Comments are tokens here, so that an apostrophe in one is not taken for it.
fn opening_quote(text: &str) -> Option<usize> {
    let mut end = 0;
    for token in Scanner::new(StrInput::new(text)) {
        let Ok(token) = token else { break };
        let (span, _) = token.into_parts();
        end = span.end.byte_offset().unwrap_or(end).max(end);
    }
    let rest = text.get(end..)?;
    rest.find(['"', '\'']).map(|offset| end + offset)
}
