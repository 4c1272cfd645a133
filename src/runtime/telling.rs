//! The line in the log for each finding, whatever else carries it: bounded, so that a storm of findings is no storm
//! of lines.
//!
//! Invariant: a line holds names, ids and the finding's own sentence, and none of the texts that were judged.

use std::time::Duration;

use crate::model::{Carrier, EpisodeState, Report, Severity, Timestamp, printable};

/// Lines within [`WINDOW`]; further findings are counted, and summed up in one line.
const AT_MOST: u32 = 30;
/// See [`AT_MOST`].
const WINDOW: Duration = Duration::from_secs(60);

/// How much was told.
#[derive(Debug, Default)]
pub(super) struct Telling {
    /// Since when is counted; zero before the first line.
    since: Timestamp,
    told: u32,
    untold: u64,
    worst: Option<Severity>,
}

impl Telling {
    /// Tells of a finding: an episode that opens in a line of its own, one that is raised only where no span or
    /// record is sure to carry it.
    pub(super) fn tell(&mut self, report: &Report, now: Timestamp) {
        let opened = report.state == EpisodeState::Opened;
        if !opened && !matches!(report.carrier, Carrier::Log(_)) {
            tracing::debug!(
                r#type = report.finding.anomaly.name(),
                severity = report.severity.name(),
                session = %printable(&report.session),
                "raised: {}", printable(&report.finding.message)
            );
        } else if self.may(report.severity, now) {
            write(report);
        }
    }

    /// Sums up what was not told one by one, once its window is over; `at_any_rate` at the end of everything.
    pub(super) fn sum_up(&mut self, now: Timestamp, at_any_rate: bool) {
        if self.untold == 0 || !(at_any_rate || self.is_over(now)) {
            return;
        }
        let worst = self.worst.take().map(Severity::name);
        let findings = std::mem::take(&mut self.untold);
        tracing::warn!(
            findings,
            worst,
            "more findings than are told one by one: see the marks, or sentinel_anomalies_total"
        );
    }

    fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.since) >= WINDOW
    }

    /// Whether there is a line left.
    fn may(&mut self, severity: Severity, now: Timestamp) -> bool {
        if self.is_over(now) {
            self.sum_up(now, true);
            (self.since, self.told) = (now, 0);
        }
        if self.told < AT_MOST {
            self.told += 1;
            return true;
        }
        self.untold += 1;
        self.worst = self.worst.max(Some(severity));
        false
    }
}

fn write(report: &Report) {
    let judged = report.finding.judged();
    let (Carrier::Span(span) | Carrier::Synthetic(span) | Carrier::Log(span)) = report.carrier;
    let span = judged.map_or(span, |member| member.span);
    let state = match report.state {
        EpisodeState::Opened => "finding",
        EpisodeState::Raised => "raised",
    };
    // The level is part of what a macro makes of it.
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                r#type = report.finding.anomaly.name(),
                severity = report.severity.name(),
                service = %printable(&report.service.name),
                agent = report.agent.as_deref().map(|agent| tracing::field::display(printable(agent))),
                session = %printable(&report.session),
                trace_id = judged.map(|member| tracing::field::display(member.trace)),
                span_id = %span,
                trace_url = report.trace_url.as_deref().map(|url| tracing::field::display(printable(url))),
                "{state}: {}", printable(&report.finding.message)
            )
        };
    }
    match report.severity {
        Severity::Info => line!(info),
        Severity::Warning | Severity::Error | Severity::Critical => line!(warn),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::{Event, Metadata, span};

    use super::*;
    use crate::model::{
        AnomalyType, Confidence, Finding, Member, Name, Service, SpanId, TraceId, Waste,
    };

    fn report() -> Report {
        let member = Member {
            trace: TraceId::from_slice(&[10; 16]).unwrap(),
            span: SpanId::from_slice(&[7; 8]).unwrap(),
            step: 4,
            start: Timestamp::ZERO,
            end: Timestamp::ZERO,
        };
        Report {
            finding: Finding {
                anomaly: AnomalyType::Stuck,
                rule: 1,
                severity: Severity::Warning,
                confidence: Confidence::Exact,
                reason: None,
                members: [member].into_iter().collect(),
                count: 3,
                tool: Some(Name::from("read_file")),
                evidence_key: 1,
                shape: Default::default(),
                facts: Vec::new(),
                message: "`read_file` was called 3 times".to_owned(),
            },
            severity: Severity::Warning,
            state: EpisodeState::Opened,
            episode: 1,
            fingerprint: 2,
            session: Name::from("session-1"),
            service: Service {
                namespace: Name::from("shop"),
                name: Name::from("check\u{1b}[2Jout"),
            },
            agent: Some(Name::from("planner")),
            also: Vec::new(),
            waste: Waste::default(),
            onset: member,
            at: Timestamp::ZERO,
            carrier: Carrier::Span(member.span),
            trace_url: None,
        }
    }

    /// Keeps the lines.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Words(String);

    impl Visit for Words {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }

    impl tracing::Subscriber for Lines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= tracing::Level::INFO
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut words = Words(event.metadata().level().to_string());
            event.record(&mut words);
            self.0.lock().unwrap().push(words.0);
        }
    }

    fn told(act: impl FnOnce()) -> Vec<String> {
        let lines = Lines::default();
        tracing::subscriber::with_default(lines.clone(), act);
        let told = lines.0.lock().unwrap();
        told.clone()
    }

    #[test]
    fn an_episode_is_one_line_with_all_that_finds_it() {
        let mut report = report();
        report.severity = Severity::Error;
        let lines = told(|| {
            let mut telling = Telling::default();
            telling.tell(&report, Timestamp::from_nanos(1));
            report.state = EpisodeState::Raised;
            telling.tell(&report, Timestamp::from_nanos(2));
            let Carrier::Span(span) = report.carrier else {
                panic!("a span");
            };
            report.carrier = Carrier::Log(span);
            report.severity = Severity::Info;
            telling.tell(&report, Timestamp::from_nanos(3));
        });
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_storm_is_summed_up() {
        let report = report();
        let at = |seconds: u64| Timestamp::from_nanos(1_000_000_000 * seconds);
        let lines = told(|| {
            let mut telling = Telling::default();
            for _ in 0..1_000 {
                telling.tell(&report, at(100));
                telling.sum_up(at(101), false);
            }
            telling.sum_up(at(160), false);
            telling.sum_up(at(160), true);
            telling.tell(&report, at(161));
        });
        assert_eq!(lines.len(), 30 + 1 + 1);
        assert!(lines[30].contains("findings=970"), "{}", lines[30]);
    }
}
