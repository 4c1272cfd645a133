//! What is wrong with a body or a span, and where.

use std::borrow::Cow;
use std::fmt::Write;

use smallvec::SmallVec;

use super::wire::WireError;

/// Why a span was cut out of its body. Names are metric labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The trace id is not 16 bytes or all zero.
    TraceId,
    /// The span id is not 8 bytes or all zero.
    SpanId,
    /// The parent's id is neither empty nor 8 bytes.
    ParentSpanId,
    /// An id of a link is neither empty nor of its length.
    Link,
    /// A text is not UTF-8.
    Utf8,
    /// Attribute values are nested too deep.
    Nesting,
    /// The bytes are no message, or a known field has the wrong wire type.
    Frame,
}

impl Reason {
    /// The word used as metric label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TraceId => "trace_id",
            Self::SpanId => "span_id",
            Self::ParentSpanId => "parent_span_id",
            Self::Link => "link",
            Self::Utf8 => "utf8",
            Self::Nesting => "nesting",
            Self::Frame => "frame",
        }
    }
}

/// The spans that were cut out of a body, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Malformed {
    /// Spans by reason, in order of appearance; a reason stands once.
    pub by_reason: SmallVec<[(Reason, u64); 2]>,
    /// Where the first one is and what is wrong, as
    /// `resourceSpans[0].scopeSpans[0].spans[3].traceId: must be 16 bytes, has 3`.
    pub first: Option<String>,
}

impl Malformed {
    /// All spans that were cut out.
    pub fn total(&self) -> u64 {
        self.by_reason.iter().map(|(_, count)| count).sum()
    }

    /// Counts `spans` more.
    pub(super) fn add(&mut self, reason: Reason, spans: u64) {
        match self
            .by_reason
            .iter_mut()
            .find(|(known, _)| *known == reason)
        {
            Some((_, count)) => *count += spans,
            None => self.by_reason.push((reason, spans)),
        }
    }
}

/// The body as a whole cannot be taken apart: nothing in it can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", if path.is_empty() { "body" } else { path.as_str() })]
pub struct BodyError {
    path: String,
    what: String,
}

impl BodyError {
    pub(super) fn new(path: String, what: impl Into<String>) -> Self {
        Self {
            path,
            what: what.into(),
        }
    }

    /// A fault in a body that should have none, with the path from the body on.
    pub(super) fn of(fault: &Fault) -> Self {
        let path = fault.path();
        Self::new(path.trim_start_matches('.').to_owned(), fault.what())
    }

    /// Where, as `resourceSpans[2].scopeSpans[0]`; empty for the body itself. For BadRequest details.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// Something wrong inside a span, resource or scope. Boxed: the good way through pays one word.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) reason: Reason,
    what: Cow<'static, str>,
    /// Innermost first.
    path: SmallVec<[(&'static str, Option<usize>); 6]>,
}

impl Fault {
    #[cold]
    pub(super) fn new(reason: Reason, what: impl Into<Cow<'static, str>>) -> Box<Self> {
        Box::new(Self {
            reason,
            what: what.into(),
            path: SmallVec::new(),
        })
    }

    #[cold]
    pub(super) fn utf8() -> Box<Self> {
        Self::new(Reason::Utf8, "is not UTF-8")
    }

    #[cold]
    pub(super) fn wire_type(number: u32) -> Box<Self> {
        Self::new(
            Reason::Frame,
            format!("field {number} has the wrong wire type"),
        )
    }

    /// Says that it lies within this field.
    #[cold]
    pub(super) fn within(mut self: Box<Self>, field: &'static str) -> Box<Self> {
        self.path.push((field, None));
        self
    }

    /// Says that it lies within this element of a list.
    #[cold]
    pub(super) fn within_item(mut self: Box<Self>, field: &'static str, item: usize) -> Box<Self> {
        self.path.push((field, Some(item)));
        self
    }

    /// What is wrong, without where.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// `.<path>`, from the outside in.
    fn path(&self) -> String {
        let mut text = String::new();
        for (field, item) in self.path.iter().rev() {
            text.push('.');
            text.push_str(field);
            if let Some(item) = item {
                let _ = write!(text, "[{item}]");
            }
        }
        text
    }

    /// `<base>.<path>: <what>`.
    pub(super) fn describe(&self, base: &str) -> String {
        format!("{base}{}: {}", self.path(), self.what)
    }
}

impl From<WireError> for Box<Fault> {
    #[cold]
    fn from(error: WireError) -> Self {
        Fault::new(Reason::Frame, error.to_string())
    }
}
