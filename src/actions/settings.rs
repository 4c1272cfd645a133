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
#[serde(try_from = "BTreeMap<String, RoleName>")]
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

impl TryFrom<BTreeMap<String, RoleName>> for Roles {
    type Error = globset::Error;

    fn try_from(rules: BTreeMap<String, RoleName>) -> Result<Self, globset::Error> {
        Self::new(
            rules
                .iter()
                .map(|(glob, role)| (glob.as_str(), role.role())),
        )
    }
}

/// Roles as they are written in configuration.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RoleName {
    Edit,
    Verify,
    Shell,
    Read,
    Fetch,
    Search,
    Delegate,
    Poll,
    Wait,
    Ask,
    Other,
}

impl RoleName {
    fn role(self) -> Role {
        match self {
            Self::Edit => Role::Edit,
            Self::Verify => Role::Verify,
            Self::Shell => Role::Shell,
            Self::Read => Role::Read,
            Self::Fetch => Role::Fetch,
            Self::Search => Role::Search,
            Self::Delegate => Role::Delegate,
            Self::Poll => Role::Poll,
            Self::Wait => Role::Wait,
            Self::Ask => Role::Ask,
            Self::Other => Role::Other,
        }
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
