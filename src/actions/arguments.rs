//! The arguments of a call: members of a JSON object, or a plain text.
//!
//! Invariant: values stay raw until they are asked for, so a file's content of a megabyte is skipped over,
//! not unescaped. Only members whose name says that they hold a path are paths.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::members::{
    BACKGROUND, COMMANDS, DESTINATIONS, DIRECTORIES, PATH_LISTS, PATHS, SOURCES, WRAPPERS,
};

/// Most members looked at.
const MAX_MEMBERS: usize = 128;
/// Most elements looked at of a list.
const MAX_ELEMENTS: usize = 64;

/// The arguments of one call.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments<'a> {
    /// Folded names and raw values.
    members: Vec<(String, &'a RawValue)>,
    /// The whole text, when it is no JSON object.
    plain: Option<Cow<'a, str>>,
}

impl<'a> Arguments<'a> {
    /// Reads arguments; `None` when they look like JSON and are none (cut off, for one).
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let trimmed = text.trim();
        match trimmed.as_bytes().first() {
            Some(b'{') if is_object(trimmed) => {
                let mut members = members(trimmed)?;
                if let [(name, value)] = members.as_slice()
                    && WRAPPERS.contains(&name.as_str())
                    && value.get().starts_with('{')
                {
                    members = self::members(value.get())?;
                }
                Some(Self {
                    members,
                    plain: None,
                })
            }
            Some(b'"') => {
                let plain: Cow<'a, str> = serde_json::from_str::<String>(trimmed)
                    .map(Cow::Owned)
                    .unwrap_or(Cow::Borrowed(trimmed));
                Some(Self {
                    members: Vec::new(),
                    plain: Some(plain),
                })
            }
            Some(b'[') => {
                // An argument vector, or a test: `[ -f x ]`.
                let argv = strings(trimmed).map(|argv| joined(&argv));
                Some(Self {
                    members: Vec::new(),
                    plain: Some(argv.map_or(Cow::Borrowed(trimmed), Cow::Owned)),
                })
            }
            _ => Some(Self {
                members: Vec::new(),
                plain: Some(Cow::Borrowed(trimmed)),
            }),
        }
    }

    /// The whole text, when the arguments are no object.
    pub(super) fn plain(&self) -> Option<&str> {
        self.plain.as_deref()
    }

    fn raw(&self, names: &[&str]) -> Option<&'a str> {
        names
            .iter()
            .find_map(|name| self.members.iter().find(|(own, _)| own == name))
            .map(|(_, value)| value.get())
    }

    /// A member that is a string.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names
            .iter()
            .filter_map(|name| self.members.iter().find(|(own, _)| own == name))
            .find_map(|(_, value)| string(value.get()))
    }

    /// A member that is a number, or a string that holds one.
    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        let raw = self.raw(names)?;
        serde_json::from_str::<f64>(raw)
            .ok()
            .or_else(|| string(raw)?.trim().parse().ok())
            .filter(|n| n.is_finite())
    }

    /// Whether there is such a member at all.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.raw(names).is_some_and(|raw| raw != "null")
    }

    /// The text that is to be run; of an argument vector, put together again.
    pub(super) fn command(&self) -> Option<String> {
        if let Some(plain) = self.plain() {
            return Some(plain.to_owned());
        }
        for name in COMMANDS {
            let Some(raw) = self.raw(&[name]) else {
                continue;
            };
            if let Some(text) = string(raw) {
                let Some(args) = self.raw(&["args", "arguments", "argv"]).and_then(strings) else {
                    return Some(text);
                };
                return Some(format!("{text} {}", joined(&args)));
            }
            if let Some(argv) = strings(raw) {
                return Some(if *name == "commands" {
                    argv.join("\n")
                } else {
                    joined(&argv)
                });
            }
        }
        self.raw(&["args", "argv"])
            .and_then(strings)
            .map(|argv| joined(&argv))
    }

    /// The directory that the call names for its command.
    pub(super) fn directory(&self) -> Option<String> {
        self.text(DIRECTORIES).filter(|dir| !dir.is_empty())
    }

    /// Whether the command is to go on in the background.
    pub(super) fn in_background(&self) -> bool {
        self.flag(BACKGROUND)
    }

    /// Paths that the call is about; at most 16.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        paths.extend(self.text(PATHS));
        for name in PATH_LISTS {
            let Some(raw) = self.raw(&[name]) else {
                continue;
            };
            if let Some(list) = strings(raw) {
                paths.extend(list);
            } else if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw) {
                let inner = list.iter().take(MAX_ELEMENTS).filter_map(|value| {
                    let members = members(value.get())?;
                    Self {
                        members,
                        plain: None,
                    }
                    .text(PATHS)
                });
                paths.extend(inner);
            }
        }
        paths.truncate(16);
        paths.dedup();
        paths
    }

    /// The texts of a list, or the one text in its place.
    pub(super) fn texts(&self, names: &[&str]) -> Vec<String> {
        let Some(raw) = self.raw(names) else {
            return Vec::new();
        };
        let mut texts = strings(raw).unwrap_or_else(|| string(raw).into_iter().collect());
        texts.truncate(16);
        texts
    }

    /// Old and new text of each replacement in a list of them; `None` when one is not understood.
    pub(super) fn replacements(&self, old: &[&str], new: &[&str]) -> Option<Vec<(String, String)>> {
        let raw = self.raw(&["edits", "changes", "replacements", "replacementchunks"])?;
        let list = serde_json::from_str::<Vec<&RawValue>>(raw).ok()?;
        if list.is_empty() || list.len() > MAX_ELEMENTS {
            return None;
        }
        list.iter()
            .map(|value| {
                let members = members(value.get())?;
                let one = Self {
                    members,
                    plain: None,
                };
                Some((one.text(old)?, one.text(new)?))
            })
            .collect()
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.raw(&[name]) == Some("true"))
    }

    /// From and to, of a tool that moves or copies.
    pub(super) fn moved(&self) -> (Option<String>, Option<String>) {
        (self.text(SOURCES), self.text(DESTINATIONS))
    }
}

/// Whether a text that opens a brace is meant as an object, and no group of a shell.
fn is_object(text: &str) -> bool {
    text.get(1..)
        .unwrap_or_default()
        .trim_start()
        .starts_with(['"', '}'])
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if members.len() >= MAX_MEMBERS {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value::<&RawValue>()?;
            let folded = name
                .chars()
                .take(64)
                .filter(|c| c.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .collect();
            members.push((folded, value));
        }
        Ok(members)
    }
}

fn members(text: &str) -> Option<Vec<(String, &RawValue)>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let members = deserializer.deserialize_map(Members).ok()?;
    deserializer.end().ok()?;
    Some(members)
}

fn string(raw: &str) -> Option<String> {
    raw.starts_with('"')
        .then(|| serde_json::from_str(raw).ok())
        .flatten()
}

/// A list of strings.
fn strings(raw: &str) -> Option<Vec<String>> {
    if !raw.starts_with('[') {
        return None;
    }
    serde_json::from_str(raw).ok()
}

/// Puts an argument vector together so that a shell would take it apart again. `[bash, -lc, text]` is as
/// good as its text, but for the options.
fn joined(argv: &[String]) -> String {
    let mut text = String::new();
    for word in argv {
        if !text.is_empty() {
            text.push(' ');
        }
        let safe = !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "-_./=:,@%+".contains(c));
        if safe {
            text.push_str(word);
        } else {
            text.push('\'');
            text.push_str(&word.replace('\'', r"'\''"));
            text.push('\'');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_every_shape() {
        for (text, expected) in [
            (r#"{"command": "pytest -q"}"#, "pytest -q"),
            (
                r#"{"command": ["bash", "-lc", "cd x && ls"], "workdir": "/r"}"#,
                "bash -lc 'cd x && ls'",
            ),
            (r#"{"command": ["echo", "it's"]}"#, r"echo 'it'\''s'"),
            (r#"["git", "status"]"#, "git status"),
            ("pytest -q", "pytest -q"),
            (r#""pytest -q""#, "pytest -q"),
            (r#"{"args": {"cmd": "ls"}}"#, "ls"),
            (r#"{"cmd": "npm", "args": ["run", "test"]}"#, "npm run test"),
            (r#"{"commands": ["cd x", "ls"]}"#, "cd x\nls"),
        ] {
            assert_eq!(
                Arguments::read(text).unwrap().command().as_deref(),
                Some(expected),
                "{text}"
            );
        }
        assert!(Arguments::read(r#"{"command": "cut o"#).is_none());
    }

    #[test]
    fn only_members_that_hold_paths_are_paths() {
        let paths = |text| Arguments::read(text).unwrap().paths();
        assert_eq!(
            paths(r#"{"file_path": "a.py", "content": "/etc/passwd"}"#),
            ["a.py"]
        );
        assert_eq!(
            paths(r#"{"files": [{"path": "a"}, {"path": "b"}]}"#),
            ["a", "b"]
        );
        assert_eq!(paths(r#"{"paths": ["a", "b"]}"#), ["a", "b"]);
        assert!(paths(r#"{"bucket": "shop", "key": "/etc/2031/a.csv"}"#).is_empty());
    }
}
