//! The names in tool definitions, whatever their shape.

use std::borrow::Cow;

use super::json::{Cursor, Kind, Malformed};
use super::raw::{Definitions, Text, own};

/// Most tools read of one set of definitions.
const TOOLS: usize = 1024;

/// The names of all tools in the definitions, as sent. Empty when none can be read.
pub fn tool_names<'a>(definitions: &Definitions<'a>) -> Vec<Text<'a>> {
    let mut names = Vec::new();
    for part in &definitions.parts {
        match part {
            Cow::Borrowed(text) => names_in(text, &mut names),
            Cow::Owned(text) => {
                let mut owned = Vec::new();
                names_in(text, &mut owned);
                names.extend(owned.into_iter().map(own));
            }
        }
    }
    names.truncate(TOOLS);
    names
}

fn names_in<'a>(text: &'a str, names: &mut Vec<Text<'a>>) {
    let mut cursor = Cursor::new(text);
    let before = names.len();
    let read = match cursor.kind() {
        Kind::Array => cursor.array(|cursor| one(cursor, names)),
        Kind::Object => one(&mut cursor, names),
        Kind::Scalar if !text.contains(['{', '[', '"']) => {
            names.push(Cow::Borrowed(text.trim()));
            Ok(())
        }
        _ => Ok(()),
    };
    if read.is_err() {
        // Definitions cut short name only some tools: a missing one would look invented.
        names.truncate(before);
    }
}

fn one<'a>(cursor: &mut Cursor<'a>, names: &mut Vec<Text<'a>>) -> Result<(), Malformed> {
    match cursor.kind() {
        Kind::Text => {
            let name = cursor.quoted()?.decode();
            if name.trim_start().starts_with('{') {
                let mut inner = Vec::new();
                names_in(&name, &mut inner);
                names.extend(inner.into_iter().map(own));
            } else {
                names.push(name);
            }
        }
        Kind::Object => {
            let (mut name, mut nested) = (None, None);
            cursor.object(|key, cursor| {
                match key.0 {
                    "name" if cursor.kind() == Kind::Text => name = Some(cursor.quoted()?.decode()),
                    "function" | "toolSpec" => nested = Some(cursor.value()?),
                    _ => {}
                }
                Ok(())
            })?;
            match (name, nested) {
                (Some(name), _) => names.push(name),
                (None, Some(nested)) => names_in(nested, names),
                (None, None) => {}
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    fn names(parts: &[&str]) -> Vec<String> {
        let parts = parts.iter().map(|part| Cow::Borrowed(*part)).collect();
        tool_names(&Definitions { parts })
            .into_iter()
            .map(Cow::into_owned)
            .collect()
    }

    #[test]
    fn reads_every_shape() {
        let flat = r#"[{"type":"function","name":"a","parameters":{"name":"no"}},{"function":{"name":"b"}}]"#;
        assert_eq!(names(&[flat]), ["a", "b"]);
        assert_eq!(names(&[r#"["a", "b"]"#]), ["a", "b"]);
        assert_eq!(names(&[r#"{"function":{"name":"a"}}"#, "b"]), ["a", "b"]);
        assert_eq!(names(&[r#"["{\"name\":\"a\"}"]"#]), ["a"]);
        assert_eq!(names(&[r#"[{"toolSpec":{"name":"a"}}]"#]), ["a"]);
    }

    #[test]
    fn definitions_cut_short_name_nothing() {
        assert_eq!(names(&[r#"[{"name":"a"},{"na"#]), [""; 0]);
        let owned = Definitions {
            parts: smallvec![Cow::Owned("[\"x\"]".to_owned())],
        };
        assert_eq!(tool_names(&owned), ["x"]);
    }
}
