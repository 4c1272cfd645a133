//! The workspace as it is configured: one directory or several, templates over attributes, or inferred.
//!
//! Invariant: a template whose attributes are not sent names no directory; it never names half of one.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// Most directories of one workspace.
const MOST: usize = 32;

/// `workspace.root`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    templates: Vec<Template>,
    /// `infer`: what the run itself names.
    infer: bool,
}

/// One directory, with attributes to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Resource(String),
    Span(String),
}

impl Roots {
    /// Reads one directory, or `infer`: `/srv/{resource.tenant.id}/{span.project}`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn one(text: &str) -> Result<Self, String> {
        let mut roots = Self::default();
        roots.add(text)?;
        Ok(roots)
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        if text == "infer" {
            self.infer = true;
        } else if self.templates.len() < MOST {
            self.templates.push(Template::read(text)?);
        } else {
            return Err(format!("more than {MOST} directories"));
        }
        Ok(())
    }

    /// Whether the workspace is inferred where no directory is known.
    pub fn infers(&self) -> bool {
        self.infer
    }

    /// Whether an attribute of spans is filled in, so that it may differ from span to span.
    pub fn reads_spans(&self) -> bool {
        let parts = self.templates.iter().flat_map(|template| &template.0);
        parts.into_iter().any(|part| matches!(part, Part::Span(_)))
    }

    /// The directories, filled in; those without their attributes are left out.
    pub fn filled<'a>(
        &self,
        resource: impl Fn(&str) -> Option<&'a str>,
        span: impl Fn(&str) -> Option<&'a str>,
    ) -> Vec<String> {
        let fill = |template: &Template| {
            let mut path = String::new();
            for part in &template.0 {
                let value = match part {
                    Part::Text(text) => Some(text.as_str()),
                    Part::Resource(key) => resource(key),
                    Part::Span(key) => span(key),
                };
                path.push_str(value.filter(|value| !value.is_empty())?);
            }
            Some(path)
        };
        self.templates.iter().filter_map(fill).collect()
    }
}

impl Template {
    fn read(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (key, behind) = after
                .split_once('}')
                .ok_or_else(|| format!("`{{` without `}}` in {text:?}"))?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(match key.split_once('.') {
                Some(("resource", key)) if !key.is_empty() => Part::Resource(key.to_owned()),
                Some(("span", key)) if !key.is_empty() => Part::Span(key.to_owned()),
                _ => {
                    return Err(format!(
                        "`{{{key}}}` is neither `{{resource.<attribute>}}` nor `{{span.<attribute>}}`"
                    ));
                }
            });
            rest = behind;
        }
        if rest.contains('}') {
            return Err(format!("`}}` without `{{` in {text:?}"));
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        if parts.is_empty() {
            return Err("an empty text is no directory".to_owned());
        }
        let plain = matches!(parts.first(), Some(Part::Text(text)) if !absolute(text));
        if plain {
            return Err(format!("{text:?} is no absolute path"));
        }
        Ok(Self(parts))
    }
}

fn absolute(text: &str) -> bool {
    text.starts_with('/') || text.starts_with('~') || text.get(1..2) == Some(":")
}

impl<'de> Deserialize<'de> for Roots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany)
    }
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = Roots;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a directory, a list of directories, or `infer`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Roots, E> {
        Roots::one(text).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Roots, A::Error> {
        let mut roots = Roots::default();
        while let Some(one) = list.next_element::<Roots>()? {
            roots.infer |= one.infer;
            roots.templates.extend(one.templates);
            if roots.templates.len() > MOST {
                return Err(de::Error::custom(format!("more than {MOST} directories")));
            }
        }
        Ok(roots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(json: &str) -> Vec<String> {
        let roots: Roots = serde_json::from_str(json).unwrap();
        let resource = |key: &str| (key == "tenant.id").then_some("t1");
        let span = |key: &str| (key == "project.dir").then_some("/w/p");
        roots.filled(resource, span)
    }

    #[test]
    fn a15_roots_in_every_form() {
        for (json, expected) in [
            (r#""/srv/a""#, &["/srv/a"][..]),
            (r#"["/srv/a", "/srv/b"]"#, &["/srv/a", "/srv/b"]),
            (r#""/srv/{resource.tenant.id}/x""#, &["/srv/t1/x"]),
            (r#""{span.project.dir}""#, &["/w/p"]),
            (r#"["{span.none}", "/srv/{resource.none}", "/b"]"#, &["/b"]),
            (r#""infer""#, &[]),
        ] {
            assert_eq!(filled(json), expected, "{json}");
        }
        let infer: Roots = serde_json::from_str(r#"["infer", "{resource.b}"]"#).unwrap();
        assert!(infer.infers() && !infer.reads_spans());
        assert!(Roots::one("{span.a}").unwrap().reads_spans());
    }

    #[test]
    fn a15_wrong_roots_say_what_is_wrong() {
        for (text, words) in [
            ("/a/{b}", "neither"),
            ("/a/{resource.}", "neither"),
            ("/a/{resource.b", "without"),
            ("/a}b", "without"),
            ("a/b", "absolute"),
            ("", "empty"),
        ] {
            let error = Roots::one(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
