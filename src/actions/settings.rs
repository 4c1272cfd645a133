//! What the user may say about tools and places.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;

use crate::model::Role;

use super::roots::Roots;

/// Everything of this module that can be configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Roles of the user's own tools.
    pub tools: Roles,
    /// Where the agent works.
    pub workspace: Workspace,
}

/// Places that paths are resolved against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Workspace {
    /// Where the agent may write. Default: what the resource names as its working directory.
    pub root: Option<Roots>,
    /// What `~` and `$HOME` stand for.
    pub home: Option<String>,
}

/// Roles for tools by name, globs allowed (`run_*: verify`), compared without case. Of several globs that
/// match, the longest wins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Role>")]
pub struct Roles {
    rules: Vec<(GlobMatcher, Role)>,
}

impl Roles {
    /// Compiles globs.
    ///
    /// # Errors
    /// A glob that does not compile, with its text.
    pub fn new<'a>(
        rules: impl IntoIterator<Item = (&'a str, Role)>,
    ) -> Result<Self, globset::Error> {
        let mut compiled = Vec::new();
        for (glob, role) in rules {
            let matcher = GlobBuilder::new(glob)
                .case_insensitive(true)
                .build()?
                .compile_matcher();
            compiled.push((matcher, role));
        }
        compiled.sort_by_key(|(matcher, _)| std::cmp::Reverse(matcher.glob().glob().len()));
        Ok(Self { rules: compiled })
    }

    /// The role that the user gave a tool.
    pub fn of(&self, tool: &str) -> Option<Role> {
        self.rules
            .iter()
            .find(|(matcher, _)| matcher.is_match(tool))
            .map(|(_, role)| *role)
    }
}

impl TryFrom<BTreeMap<String, Role>> for Roles {
    type Error = globset::Error;

    fn try_from(rules: BTreeMap<String, Role>) -> Result<Self, globset::Error> {
        Self::new(rules.iter().map(|(glob, role)| (glob.as_str(), *role)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_glob_wins_and_case_is_folded() {
        let settings: Settings = serde_json::from_str(
            r#"{"tools": {"*": "other", "run_*": "verify", "my_writer": "edit"}}"#,
        )
        .unwrap();
        assert_eq!(settings.tools.of("Run_Checks"), Some(Role::Verify));
        assert_eq!(settings.tools.of("my_writer"), Some(Role::Edit));
        assert_eq!(settings.tools.of("x"), Some(Role::Other));
    }

    #[test]
    fn every_role_may_be_given() {
        for (name, role) in Role::NAMES {
            let json = format!(r#"{{"tools": {{"mine": "{name}"}}}}"#);
            let settings: Settings = serde_json::from_str(&json).unwrap();
            assert_eq!(settings.tools.of("mine"), Some(role));
        }
        let unknown = serde_json::from_str::<Role>("\"none\"")
            .unwrap_err()
            .to_string();
        for (name, _) in Role::NAMES {
            assert!(unknown.contains(&format!("`{name}`")), "{unknown}");
        }
        assert_eq!(unknown.matches('`').count(), 2 * (Role::NAMES.len() + 1));
    }

    #[test]
    fn a_broken_glob_and_an_unknown_role_are_errors() {
        for wrong in [
            r#"{"tools": {"run_[": "verify"}}"#,
            r#"{"tools": {"run": "verifier"}}"#,
            r#"{"tool": {}}"#,
        ] {
            assert!(serde_json::from_str::<Settings>(wrong).is_err(), "{wrong}");
        }
    }
}
