//! Stand-ins until `actions` and `texts` are there.
#![expect(unreachable_pub, reason = "stand-in")]

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
