//! Stand-ins until `actions` and `texts` are there.
#![expect(unreachable_pub, dead_code, reason = "stand-in")]

pub mod actions {
    use crate::model::{Effects, Excerpt, Role};
    use serde::Deserialize;

    #[derive(Clone, Debug, Default)]
    pub struct Settings {
        pub tools: Roles,
        pub workspace: Workspace,
    }
    pub type Roles = std::collections::BTreeMap<String, Role>;
    #[derive(Clone, Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Workspace {
        pub root: Option<String>,
        pub home: Option<String>,
    }
    #[derive(Clone, Debug, Default)]
    pub struct Scripts;
    impl Scripts {
        pub fn with_seed(_: u64) -> Self {
            Self
        }
    }
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ExitMeaning {
        #[default]
        Plain,
    }
    #[derive(Clone, Copy, Debug, Default)]
    pub struct CallFacts<'a> {
        pub tool: &'a str,
        pub role: Role,
        pub arguments: Option<&'a str>,
        pub answer: Option<Excerpt<'a>>,
        pub exit_code: Option<i32>,
        pub error_flag: Option<bool>,
        pub cwd: Option<&'a str>,
    }
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Understood {
        pub effects: Effects,
        pub role: Role,
        pub exit: ExitMeaning,
        pub unparsed: bool,
    }
    pub fn role(tool: &str, settings: &Settings) -> Role {
        if matches!(tool, "final_answer" | "submit" | "finish") {
            return Role::Finish;
        }
        settings.tools.get(tool).copied().unwrap_or_default()
    }
    pub fn effects(call: &CallFacts<'_>, _: &Settings, _: &mut Scripts) -> Understood {
        Understood {
            role: call.role,
            ..Understood::default()
        }
    }
}

pub mod texts {
    use crate::model::{Excerpt, TextFacts};
    pub fn read<'a>(text: impl Into<Excerpt<'a>>) -> TextFacts {
        let text = text.into();
        TextFacts {
            hash: hash(text),
            chars: u32::try_from(text.whole().trim().chars().count()).unwrap_or(u32::MAX),
            visible: !text.whole().trim().is_empty(),
            ..TextFacts::default()
        }
    }
    pub fn hash<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
        xxhash_rust::xxh3::xxh3_64(text.into().whole().trim().as_bytes())
    }
    pub fn goal_asks_for_tests<'a>(text: impl Into<Excerpt<'a>>) -> bool {
        text.into().front().contains("test")
    }
    pub fn acknowledges<'a>(_: impl Into<Excerpt<'a>>) -> bool {
        false
    }
    pub fn informs<'a>(_: impl Into<Excerpt<'a>>) -> bool {
        true
    }
    pub fn pending_state<'a>(_: impl Into<Excerpt<'a>>) -> bool {
        false
    }
    pub fn refused<'a>(_: impl Into<Excerpt<'a>>) -> bool {
        false
    }
    pub fn looks_like_error<'a>(text: impl Into<Excerpt<'a>>) -> bool {
        text.into().front().starts_with("Error")
    }
    pub fn exit_code_in<'a>(_: impl Into<Excerpt<'a>>) -> Option<i32> {
        None
    }
    pub fn error_class<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
        hash(text)
    }
}
