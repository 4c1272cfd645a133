//! What tool definitions say, whatever their shape: names, schemas of arguments, hints.
//!
//! Invariant: definitions cut short say nothing at all, since a tool that they left out would look invented;
//! nothing is decoded but names, and schemas that come as JSON in a string.

use std::borrow::Cow;

use crate::model::Hints;

use super::json::{Cursor, Kind, Malformed};
use super::parts::value_text;
use super::raw::{Definitions, Text, own};

/// Most tools read of one set of definitions.
const TOOLS: usize = 1024;
/// Deepest nesting of lists of definitions inside each other.
const LAYERS: u8 = 3;

/// What one definition says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tool<'a> {
    /// The name as sent.
    pub name: Text<'a>,
    /// The JSON schema of its arguments, where one was sent.
    pub schema: Option<Text<'a>>,
    /// What it is said to do.
    pub hints: Hints,
}

/// What a set of definitions says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tools<'a> {
    /// The tools, in the order sent. Empty when none can be read.
    pub list: Vec<Tool<'a>>,
    /// There are more tools than are named: those of a server that only its address stands for, those behind
    /// a tool that finds and loads others, or more than are read.
    pub open: bool,
}

/// Reads definitions.
pub fn tools<'a>(definitions: &Definitions<'a>) -> Tools<'a> {
    let mut tools = Tools::default();
    for part in &definitions.parts {
        match part {
            Cow::Borrowed(text) => tools.read(text, 0),
            Cow::Owned(text) => tools.read_owned(text, 0),
        }
    }
    if tools.list.len() > TOOLS {
        tools.list.truncate(TOOLS);
        tools.open = true;
    }
    tools.open |= tools.list.iter().any(|tool| finds_tools(&tool.name));
    tools
}

/// Whether a tool, by its name, finds and loads further ones.
fn finds_tools(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let verb = [
        "search", "find", "load", "discover", "list", "activate", "enable",
    ];
    folded.contains("tool") && verb.iter().any(|verb| folded.contains(verb))
}

impl<'a> Tools<'a> {
    fn read(&mut self, text: &'a str, layer: u8) {
        let mut cursor = Cursor::new(text);
        let before = self.list.len();
        let read = match cursor.kind() {
            Kind::Array => cursor.array(|cursor| self.one(cursor, layer)),
            Kind::Object => self.one(&mut cursor, layer),
            Kind::Scalar if !text.contains(['{', '[', '"']) => {
                self.name(Cow::Borrowed(text.trim()));
                Ok(())
            }
            _ => Ok(()),
        };
        if read.is_err() {
            self.list.truncate(before);
            self.open = true;
        }
    }

    fn read_owned(&mut self, text: &str, layer: u8) {
        let mut inner = Tools::default();
        inner.read(text, layer);
        self.open |= inner.open;
        self.list.extend(inner.list.into_iter().map(|tool| Tool {
            name: own(tool.name),
            schema: tool.schema.map(own),
            hints: tool.hints,
        }));
    }

    fn name(&mut self, name: Text<'a>) {
        self.list.push(Tool {
            name,
            ..Tool::default()
        });
    }

    fn one(&mut self, cursor: &mut Cursor<'a>, layer: u8) -> Result<(), Malformed> {
        match cursor.kind() {
            Kind::Text => {
                let name = cursor.quoted()?.decode();
                if name.trim_start().starts_with('{') && layer < LAYERS {
                    self.read_owned(&name, layer + 1);
                } else {
                    self.name(name);
                }
            }
            Kind::Object => self.definition(cursor, layer)?,
            _ => {}
        }
        Ok(())
    }

    fn definition(&mut self, cursor: &mut Cursor<'a>, layer: u8) -> Result<(), Malformed> {
        let mut tool = Tool::default();
        let (mut named, mut kind, mut nested, mut list) = (false, None, None, None);
        cursor.object(|key, cursor| {
            match key.0 {
                "name" if cursor.kind() == Kind::Text => {
                    tool.name = cursor.quoted()?.decode();
                    named = true;
                }
                "type" if cursor.kind() == Kind::Text => kind = Some(cursor.quoted()?.decode()),
                "function" | "toolSpec" => nested = Some(cursor.value()?),
                "functionDeclarations" | "function_declarations" => list = Some(cursor.value()?),
                "parameters"
                | "inputSchema"
                | "input_schema"
                | "parametersJsonSchema"
                | "parameters_json_schema" => tool.schema = schema(cursor)?.or(tool.schema.take()),
                "annotations" if cursor.kind() == Kind::Object => {
                    tool.hints = tool.hints.or(hints(cursor)?);
                }
                name => hint(name, cursor.value()?, &mut tool.hints),
            }
            Ok(())
        })?;
        let inner = nested.or(list).filter(|_| !named && layer < LAYERS);
        if named {
            self.list.push(tool);
        } else if let Some(inner) = inner {
            let before = self.list.len();
            self.read(inner, layer + 1);
            for inner in self.list.iter_mut().skip(before) {
                inner.hints = inner.hints.or(tool.hints);
                inner.schema = inner.schema.take().or(tool.schema.clone());
            }
        } else if let Some(kind) = kind {
            // A tool that the provider runs is named by its type; of a server the tools are not named.
            self.open |= matches!(&*kind, "mcp" | "mcp_toolset" | "toolset" | "function");
            self.name(kind);
        } else {
            self.open = true;
        }
        Ok(())
    }
}

/// A schema as it stands: an object, one in a string, or inside of `{"json": ...}` (Bedrock, Strands).
fn schema<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Text<'a>>, Malformed> {
    let kind = cursor.kind();
    let value = cursor.value()?;
    Ok(match kind {
        Kind::Object => Some(Cow::Borrowed(wrapped(value).unwrap_or(value))),
        Kind::Text => Some(value_text(value)).filter(|text| text.trim_start().starts_with('{')),
        _ => None,
    })
}

/// What `{"json": {...}}` holds.
fn wrapped(value: &str) -> Option<&str> {
    let mut inner = None;
    let mut others = false;
    let mut cursor = Cursor::new(value);
    cursor
        .object(|key, cursor| {
            if key.0 == "json" && cursor.kind() == Kind::Object {
                inner = Some(cursor.value()?);
            } else {
                others = true;
            }
            Ok(())
        })
        .ok()?;
    inner.filter(|_| !others)
}

fn hints(cursor: &mut Cursor<'_>) -> Result<Hints, Malformed> {
    let mut hints = Hints::default();
    cursor.object(|key, cursor| {
        hint(key.0, cursor.value()?, &mut hints);
        Ok(())
    })?;
    Ok(hints)
}

/// The hints in annotations that came by themselves, as JSON.
pub(super) fn annotations(text: &str) -> Hints {
    hints(&mut Cursor::new(text)).unwrap_or_default()
}

/// Notes one hint of the Model Context Protocol, in its own spelling or in snake case.
pub(super) fn hint(name: &str, value: &str, hints: &mut Hints) {
    let says = match value {
        "true" => true,
        "false" => false,
        _ => return,
    };
    let place = match name {
        "readOnlyHint" | "read_only_hint" => &mut hints.read_only,
        "destructiveHint" | "destructive_hint" => &mut hints.destructive,
        "idempotentHint" | "idempotent_hint" => &mut hints.idempotent,
        _ => return,
    };
    *place = Some(says);
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    fn read<'a>(parts: &[&'a str]) -> Tools<'a> {
        let parts = parts.iter().map(|part| Cow::Borrowed(*part)).collect();
        tools(&Definitions { parts })
    }

    fn names(parts: &[&str]) -> Vec<String> {
        let list = read(parts).list.into_iter();
        list.map(|tool| tool.name.into_owned()).collect()
    }

    #[test]
    fn reads_every_shape() {
        let flat = r#"[{"type":"function","name":"a","parameters":{"name":"no"}},{"function":{"name":"b"}}]"#;
        assert_eq!(names(&[flat]), ["a", "b"]);
        assert_eq!(names(&[r#"["a", "b"]"#]), ["a", "b"]);
        assert_eq!(names(&[r#"{"function":{"name":"a"}}"#, "b"]), ["a", "b"]);
        assert_eq!(names(&[r#"["{\"name\":\"a\"}"]"#]), ["a"]);
        assert_eq!(names(&[r#"[{"toolSpec":{"name":"a"}}]"#]), ["a"]);
        let declared =
            r#"[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"type":"web_search"}]"#;
        assert_eq!(names(&[declared]), ["a", "b", "web_search"]);
        assert!(!read(&[declared]).open);
    }

    #[test]
    fn definitions_cut_short_name_nothing() {
        assert_eq!(names(&[r#"[{"name":"a"},{"na"#]), [""; 0]);
        let owned = Definitions {
            parts: smallvec![Cow::Owned("[\"x\"]".to_owned())],
        };
        assert_eq!(tools(&owned).list.len(), 1);
    }

    #[test]
    fn schemas_stand_beside_the_name_in_every_shape() {
        for definition in [
            r#"{"name":"a","parameters":{"type":"object"}}"#,
            r#"{"parameters":{"type":"object"},"name":"a"}"#,
            r#"{"type":"function","function":{"name":"a","parameters":{"type":"object"}}}"#,
            r#"{"name":"a","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a","input_schema":{"type":"object"}}"#,
            r#"{"name":"a","inputSchema":{"json":{"type":"object"}}}"#,
            r#"{"toolSpec":{"name":"a","inputSchema":{"json":{"type":"object"}}}}"#,
            r#"{"name":"a","parameters":"{\"type\":\"object\"}"}"#,
            r#"{"name":"a","parameters_json_schema":{"type":"object"},"parameters":null}"#,
            r#"["{\"name\":\"a\",\"parameters\":{\"type\":\"object\"}}"]"#,
        ] {
            let tools = read(&[definition]);
            let found: Vec<_> = tools.list.iter().map(|t| t.schema.as_deref()).collect();
            assert_eq!(found, [Some(r#"{"type":"object"}"#)], "{definition}");
        }
        assert_eq!(
            read(&[r#"{"name":"a","parameters":null}"#]).list[0].schema,
            None
        );
        let member = read(&[r#"{"name":"a","parameters":{"json":{},"type":"object"}}"#]);
        assert!(member.list[0].schema.as_deref().unwrap().contains("type"));
    }

    #[test]
    fn hints_in_their_places() {
        for definition in [
            r#"{"name":"a","annotations":{"readOnlyHint":true,"destructiveHint":false,"title":"x"}}"#,
            r#"{"name":"a","readOnlyHint":true,"destructive_hint":false}"#,
            r#"{"annotations":{"readOnlyHint":true,"destructiveHint":false},"function":{"name":"a"}}"#,
        ] {
            let hints = read(&[definition]).list[0].hints;
            assert_eq!(
                (hints.read_only, hints.destructive),
                (Some(true), Some(false))
            );
        }
    }

    #[test]
    fn open_sets_name_fewer_tools_than_there_are() {
        for definitions in [
            r#"[{"name":"a"},{"type":"mcp","server_label":"x"}]"#,
            r#"["a","tool_search"]"#,
            r#"["find_tools"]"#,
            r#"[{"name":"a"},{"description":"no name at all"}]"#,
        ] {
            assert!(read(&[definitions]).open, "{definitions}");
        }
        assert!(!read(&[r#"["toolbox","search","run_tool"]"#]).open);
        let many = format!("[{}\"x\"]", "\"y\",".repeat(TOOLS));
        assert!(read(&[&many]).open);
    }
}
