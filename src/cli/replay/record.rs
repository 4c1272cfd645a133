//! What `--format json` prints: one object a line (DESIGN 9). Scripts depend on names and presence of the
//! members.
//!
//! Invariant: a line holds no character that a terminal obeys or does not draw. Names and evidence, which
//! people read, have such spelled out ([`printable`]); ids, which machines join by, are exact and have them
//! escaped as JSON may.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::engine::ClosedRun;
use crate::model::{AnomalyType, Carrier, Fact, Report, is_unseen, printable};

/// A finding.
#[derive(Serialize)]
struct FindingRecord<'a> {
    record: &'static str,
    r#type: &'static str,
    severity: &'static str,
    confidence: &'static str,
    rule: String,
    reason: Option<&'static str>,
    episode: String,
    session: &'a str,
    trace_id: String,
    span_id: String,
    state: &'static str,
    severity_number: i64,
    fingerprint: String,
    waste: WasteRecord,
    carrier: CarrierRecord,
    agent: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    step: u32,
    time_unix_nano: String,
    message: Cow<'a, str>,
    evidence: BTreeMap<&'a str, Value>,
    also: Vec<&'static str>,
    /// A page of the accused span, where `annotate.trace_url` is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_url: Option<&'a str>,
    /// `metric` for a finding of a rule on trial, else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    emit: Option<&'static str>,
}

#[derive(Serialize)]
struct WasteRecord {
    calls: u32,
    ms: u64,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
}

#[derive(Serialize)]
struct CarrierRecord {
    kind: &'static str,
    span_id: String,
}

/// The line of a finding.
///
/// # Errors
/// None that can occur: all members are plain.
pub(super) fn finding(report: &Report) -> Result<String, serde_json::Error> {
    line(report, None)
}

/// The line of a finding of a rule on trial: it stands on no span.
///
/// # Errors
/// As [`finding`].
pub(super) fn on_trial(report: &Report) -> Result<String, serde_json::Error> {
    line(report, Some("metric"))
}

fn line(report: &Report, emit: Option<&'static str>) -> Result<String, serde_json::Error> {
    let finding = &report.finding;
    let judged = finding.judged();
    let (kind, span) = match report.carrier {
        Carrier::Span(span) => ("span", span),
        Carrier::Synthetic(span) => ("synthetic", span),
        Carrier::Log(span) => ("log", span),
    };
    written(&FindingRecord {
        record: "finding",
        r#type: finding.anomaly.name(),
        severity: report.severity.name(),
        confidence: finding.confidence.name(),
        rule: finding.rule_name(),
        reason: finding.reason,
        episode: format!("{:016x}", report.episode),
        session: &report.session,
        trace_id: judged
            .map(|member| member.trace.to_string())
            .unwrap_or_default(),
        span_id: judged
            .map(|member| member.span.to_string())
            .unwrap_or_default(),
        state: report.state.name(),
        severity_number: report.severity.number(),
        fingerprint: format!("{:016x}", report.fingerprint),
        waste: WasteRecord {
            calls: report.waste.calls,
            ms: report.waste.ms,
            tokens: report.waste.tokens,
            cost_usd: report.waste.cost_usd,
        },
        carrier: CarrierRecord {
            kind,
            span_id: span.to_string(),
        },
        agent: report.agent.as_deref().map(printable),
        tool: finding.tool.as_deref().map(printable),
        step: judged.map_or(0, |member| member.step),
        time_unix_nano: report.at.nanos().to_string(),
        message: printable(&finding.message),
        evidence: evidence(report),
        also: report.also.iter().map(|anomaly| anomaly.name()).collect(),
        trace_url: report.trace_url.as_deref(),
        emit,
    })
}

/// An object on one line, with all escaped that is not drawn.
///
/// # Errors
/// None that can occur for members that are plain.
pub(super) fn written(object: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut out = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut out, Plain))?;
    String::from_utf8(out).map_err(serde::ser::Error::custom)
}

/// Compact JSON in which what is not drawn stands as `\u` and four digits, in two halves where it needs them.
struct Plain;

impl Plain {
    fn escape<W: ?Sized + io::Write>(writer: &mut W, c: char) -> io::Result<()> {
        let mut halves = [0; 2];
        c.encode_utf16(&mut halves)
            .iter()
            .try_for_each(|half| write!(writer, "\\u{half:04x}"))
    }
}

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unseen(*c)) {
            CompactFormatter.write_string_fragment(writer, rest.get(..at).unwrap_or_default())?;
            Self::escape(writer, c)?;
            rest = rest.get(at + c.len_utf8()..).unwrap_or_default();
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

fn evidence(report: &Report) -> BTreeMap<&str, Value> {
    let finding = &report.finding;
    let mut out: BTreeMap<&str, Value> = finding
        .facts
        .iter()
        .map(|(name, fact)| {
            let value = match fact {
                Fact::Int(number) => Value::from(*number),
                Fact::Float(number) => Value::from(*number),
                Fact::Text(text) | Fact::Class(text) | Fact::Path(text) => {
                    Value::from(printable(text))
                }
                Fact::Span(span) => Value::from(span.to_string()),
                Fact::Bool(flag) => Value::from(*flag),
            };
            (*name, value)
        })
        .collect();
    out.insert("onset_step", Value::from(report.onset.step));
    let onset = report.onset.start.nanos().to_string();
    out.insert("onset_time_unix_nano", Value::from(onset));
    out.insert("count", Value::from(finding.count));
    let spans = finding
        .members
        .iter()
        .map(|member| Value::from(member.span.to_string()));
    out.insert("span_ids", spans.collect());
    out.insert(
        "steps",
        finding
            .members
            .iter()
            .map(|m| Value::from(m.step))
            .collect(),
    );
    out
}

/// A session: all runs of one conversation, or one run that belongs to none.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    order: Vec<String>,
    by_name: BTreeMap<String, SessionRecord>,
}

#[derive(Debug, Default, Serialize)]
struct SessionRecord {
    record: &'static str,
    session: String,
    traces: Vec<String>,
    steps: u64,
    findings: u64,
    not_assessed: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Sessions {
    /// Adds a closed run to its session.
    pub(super) fn add(&mut self, closed: &ClosedRun) {
        let name = closed.session.to_string();
        if !self.by_name.contains_key(&name) {
            self.order.push(name.clone());
        }
        let session = self.by_name.entry(name.clone()).or_default();
        session.record = "session";
        session.session = name;
        session.traces.push(closed.trace.to_string());
        session.steps += u64::from(closed.steps);
        session.findings += u64::from(closed.findings);
        for (anomaly, lacks) in &closed.not_assessed {
            let known = session
                .not_assessed
                .entry(AnomalyType::name(*anomaly))
                .or_default();
            for lack in lacks {
                if !known.contains(&lack.words()) {
                    known.push(lack.words());
                }
            }
        }
    }

    /// The lines of all sessions, in the order in which they were closed.
    pub(super) fn lines(&self) -> impl Iterator<Item = Result<String, serde_json::Error>> + '_ {
        self.order
            .iter()
            .filter_map(|name| self.by_name.get(name))
            .map(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_nothing_unseen_and_mean_what_they_say() {
        let value = serde_json::json!({
            "session": "a\u{202e}b\u{2028}\u{7f}\u{e0041}\n\"c\\",
            "n": [1, "\u{645}\u{200c}\u{62e}"],
        });
        let line = written(&value).unwrap();
        assert!(!line.chars().any(is_unseen), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        assert!(
            line.contains("a\\u202eb\\u2028\\u007f\\udb40\\udc41\\n"),
            "{line}"
        );
    }
}
