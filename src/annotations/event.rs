//! The event of one finding: the numbers of its proof, where it began and what it has cost.
//!
//! Invariant: at most [`ATTRIBUTES_MAX`] attributes, the most telling first; each key once; unknown cost is
//! absent, never zero.

use std::borrow::Cow;
use std::fmt::Display;

use crate::model::{
    AnomalyType, EVENT, Fact, Report, SpanId, Timestamp, told_episode, told_fully, told_key,
    told_on,
};
use crate::otlp::{AttributeValue, PatchWriter};

use super::mark::Bearer;
use super::message::{hex16, shown};
use super::{EvidenceDetail, Settings};

/// Most attributes of an event.
const ATTRIBUTES_MAX: usize = 16;
/// Longest list of steps or spans, in bytes.
const LIST_MAX: usize = 240;

/// A value with its own memory.
pub(super) enum Own {
    Text(String),
    Int(i64),
    Double(f64),
    Bool(bool),
}

impl Own {
    pub(super) fn lent(&self) -> AttributeValue<'_> {
        match self {
            Self::Text(text) => AttributeValue::Str(text),
            Self::Int(number) => AttributeValue::Int(*number),
            Self::Double(number) => AttributeValue::Double(*number),
            Self::Bool(flag) => AttributeValue::Bool(*flag),
        }
    }
}

/// Attributes in their order.
pub(super) type Entries = Vec<(Cow<'static, str>, Own)>;

/// Appends the event of a report.
pub(super) fn write(
    writer: PatchWriter,
    report: &Report,
    bearer: Bearer,
    settings: &Settings,
) -> PatchWriter {
    let finding = &report.finding;
    let judged = finding.judged().map_or(bearer.end, |member| member.end);
    let at = judged.clamp(bearer.start.min(bearer.end), bearer.end);
    let entries = entries(report, settings);
    let attributes: Vec<(&str, AttributeValue<'_>)> = entries
        .iter()
        .map(|(key, value)| (key.as_ref(), value.lent()))
        .collect();
    let writer = writer.event(EVENT, at, &attributes);
    if settings.emit_evaluation_event {
        return evaluation(writer, report, at, settings);
    }
    writer
}

/// The finding once more as the event of the GenAI conventions, for backends that know evaluations.
fn evaluation(
    writer: PatchWriter,
    report: &Report,
    at: Timestamp,
    settings: &Settings,
) -> PatchWriter {
    let rule = report.finding.rule_name();
    let message = shown(&report.finding.message, settings);
    let attributes = [
        ("gen_ai.evaluation.name", AttributeValue::Str(&rule)),
        ("gen_ai.evaluation.score.label", AttributeValue::Str("fail")),
        (
            "gen_ai.evaluation.explanation",
            AttributeValue::Str(&message),
        ),
    ];
    writer.event("gen_ai.evaluation.result", at, &attributes)
}

pub(super) fn entries(report: &Report, settings: &Settings) -> Entries {
    let finding = &report.finding;
    let mut entries = vec![
        text("sentinel.anomaly.type", finding.anomaly.name()),
        text("sentinel.anomaly.severity", report.severity.name()),
        text("sentinel.anomaly.rule", &finding.rule_name()),
        text(
            "sentinel.anomaly.message",
            &shown(&finding.message, settings),
        ),
    ];
    entries.extend(
        finding
            .reason
            .map(|reason| text("sentinel.anomaly.reason", reason)),
    );
    if finding.count > 1 {
        entries.push(int("sentinel.anomaly.repeats", finding.count));
    }
    let steps = list(finding.members.iter().map(|member| member.step));
    let spans = spans(report);
    entries.push(text("sentinel.anomaly.steps", &steps));
    entries.push(text("sentinel.anomaly.span_ids", &spans));
    entries.push(int("sentinel.waste.calls", report.waste.calls));
    entries.push(int("sentinel.waste.ms", report.waste.ms));
    // What is told of a claim says when it began.
    if finding.anomaly == AnomalyType::PrematureVictory {
        facts(report, settings, &mut entries);
        rest(report, settings, &mut entries);
    } else {
        rest(report, settings, &mut entries);
        facts(report, settings, &mut entries);
    }
    entries.truncate(ATTRIBUTES_MAX);
    entries
}

fn spans(report: &Report) -> String {
    list(report.finding.members.iter().map(|member| member.span))
}

/// What this finding on a span may be known by where it was told before: of the same steps, of the same span, in
/// the same episode.
pub fn keys(report: &Report, accused: SpanId) -> Option<[u64; 4]> {
    let finding = &report.finding;
    let trace = finding.judged()?.trace;
    let (name, rule) = (finding.anomaly.name(), finding.rule_name());
    let (span, episode) = (accused.to_string(), hex16(report.episode));
    Some([
        told_key(trace, name, &rule, &spans(report)),
        told_on(trace, name, &span),
        told_episode(trace, &episode, report.state.name()),
        told_fully(trace, &span),
    ])
}

/// Where it began, what else it has cost, the tool.
fn rest(report: &Report, settings: &Settings, entries: &mut Entries) {
    let finding = &report.finding;
    if finding
        .judged()
        .is_some_and(|judged| judged.span != report.onset.span)
    {
        let ms = report.onset.start.nanos() / 1_000_000;
        entries.push(int("sentinel.anomaly.onset_step", report.onset.step));
        entries.push(int("sentinel.anomaly.onset_unix_ms", ms));
    }
    entries.extend(
        report
            .waste
            .tokens
            .map(|tokens| int("sentinel.waste.tokens", tokens)),
    );
    let cost = report.waste.cost_usd;
    entries.extend(cost.map(|cost| (Cow::Borrowed("sentinel.waste.cost_usd"), Own::Double(cost))));
    if let Some(tool) = finding.tool.as_deref().filter(|_| settings.shows_names()) {
        let tool = Own::Text(shown(tool, settings));
        entries.push((Cow::Borrowed("sentinel.anomaly.tool"), tool));
    }
}

fn facts(report: &Report, settings: &Settings, entries: &mut Entries) {
    for (name, fact) in &report.finding.facts {
        let key = format!("sentinel.anomaly.{name}");
        if entries.iter().any(|(known, _)| *known == key) {
            continue;
        }
        let value = match fact {
            Fact::Int(number) => Own::Int(*number),
            Fact::Float(number) => Own::Double(*number),
            Fact::Bool(flag) => Own::Bool(*flag),
            Fact::Span(span) => Own::Text(span.to_string()),
            Fact::Class(text) => Own::Text(shown(text, settings)),
            Fact::Text(text) | Fact::Path(text) if settings.shows_names() => {
                Own::Text(shown(text, settings))
            }
            Fact::Text(_) | Fact::Path(_) => continue,
        };
        entries.push((Cow::Owned(key), value));
    }
}

pub(super) fn text(key: &'static str, text: &str) -> (Cow<'static, str>, Own) {
    (Cow::Borrowed(key), Own::Text(text.to_owned()))
}

pub(super) fn int(key: &'static str, number: impl TryInto<i64>) -> (Cow<'static, str>, Own) {
    (
        Cow::Borrowed(key),
        Own::Int(number.try_into().unwrap_or(i64::MAX)),
    )
}

/// The first and as many of the last as fit, joined by commas.
fn list(items: impl DoubleEndedIterator<Item = impl Display>) -> String {
    let mut items = items.map(|item| item.to_string());
    let Some(first) = items.next() else {
        return String::new();
    };
    let mut room = LIST_MAX.saturating_sub(first.len() + 3);
    let mut last = Vec::new();
    let mut cut = false;
    for item in items.rev() {
        if item.len() + 1 > room {
            cut = true;
            break;
        }
        room -= item.len() + 1;
        last.push(item);
    }
    let gap = cut.then(|| "..".to_owned());
    let all: Vec<String> = std::iter::once(first)
        .chain(gap)
        .chain(last.into_iter().rev())
        .collect();
    all.join(",")
}

impl Settings {
    /// Makes the paths in a finding's facts as whole as may be shown: whole, the file's name, or none.
    pub fn settle_paths(&self, facts: &mut Vec<(&'static str, Fact)>) {
        for (_, fact) in facts.iter_mut() {
            if let Fact::Path(path) = fact
                && self.evidence == EvidenceDetail::Names
            {
                let name = path
                    .trim_end_matches(['/', '\\'])
                    .rsplit(['/', '\\'])
                    .next();
                *fact = Fact::Path(name.unwrap_or_default().into());
            }
        }
        if self.evidence == EvidenceDetail::None {
            facts.retain(|(_, fact)| !matches!(fact, Fact::Path(_)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_ends() {
        assert_eq!(list([3, 5, 8].iter()), "3,5,8");
        assert_eq!(list(std::iter::empty::<u32>()), "");
        let long = list(100_000..100_100);
        assert!(
            long.len() <= LIST_MAX && long.starts_with("100000,..,"),
            "{long}"
        );
        assert!(long.ends_with(",100098,100099"), "{long}");
    }

    #[test]
    fn paths_are_as_whole_as_allowed() {
        let path = || vec![("last_edit_path", Fact::Path("/srv/app/src/a.rs".into()))];
        for (evidence, shown) in [
            (EvidenceDetail::Paths, Some("/srv/app/src/a.rs")),
            (EvidenceDetail::Names, Some("a.rs")),
            (EvidenceDetail::None, None),
        ] {
            let settings = Settings {
                evidence,
                ..Settings::default()
            };
            let mut facts = path();
            settings.settle_paths(&mut facts);
            let left = facts.first().map(|(_, fact)| fact.clone());
            assert_eq!(left, shown.map(|shown| Fact::Path(shown.into())));
        }
    }
}
