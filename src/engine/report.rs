//! From findings to reports: what policy lets out, on which span, with which cost.

use crate::annotations;
use crate::detectors::{Choice, Told};
use crate::model::{
    AnomalyType, Carrier, Emit, EpisodeState, Report, Severity, Timestamp, TraceId, Waste,
    fingerprint,
};
use crate::policies::{Admitted, Moment};
use crate::sessions::{Pending, Run, Site};

use super::counters::bump;
use super::intake::Work;
use super::opinion::Opinion;
use super::{Engine, Mode, Output, Quiet, Why};

impl Engine {
    /// Hands the findings of one step to policy and puts what it lets out on the step's span: in the request
    /// being worked on, on the held span, or late. Lets a held span go in any case.
    #[expect(
        clippy::too_many_arguments,
        reason = "one verdict's circumstances, spelled out"
    )]
    pub(super) fn report(
        &mut self,
        trace: TraceId,
        pending: &Pending,
        opinion: Opinion,
        moment: Moment,
        now: Timestamp,
        mut work: Option<&mut Work>,
        out: &mut Output,
    ) {
        let mut on_held = Vec::new();
        let held = self
            .holds
            .get(pending.site)
            .map(|held| (held.span, held.bearer));
        let groups = match self.sessions.run(trace) {
            Some(run) => self.by_place(run, pending.lane, opinion.choice, opinion.findings),
            None => return,
        };
        let (choice, at) = (opinion.choice, opinion.at);
        for (place, findings) in groups {
            for mut admitted in self.desk.admit(place, findings, moment) {
                let Some(run) = self.sessions.run(trace) else {
                    continue;
                };
                let episode = &mut admitted.episode;
                if admitted.state == EpisodeState::Opened {
                    episode.at_onset.spent = run.facts.spent_by(episode.onset.start);
                    self.desk
                        .note_onset(place, episode.id, episode.at_onset.spent);
                }
                let resource = resource_of(run, pending);
                let mut report = self.report_of(run, pending, choice, admitted, moment);
                report.at = at.unwrap_or(report.at);
                if let Some(why) = self.hushed(choice, &report, now) {
                    report.carrier = Carrier::Log(pending.span);
                    self.note_quiet(trace, &report, &why);
                    self.note_passed(trace, pending.lane, choice, &report);
                    out.quiet.push(Quiet { report, why });
                    continue;
                }
                if self.settings.mode == Mode::Observe {
                    self.send_observed(&mut report, (trace, pending.span), resource, now, out);
                } else if self.known.has(&report, pending.span) {
                    // It came with its mark.
                } else if held.is_some() {
                    on_held.push(report.clone());
                } else if !work
                    .as_mut()
                    .is_some_and(|work| work.mark(pending.site, &report))
                {
                    self.send_late(&mut report, (trace, pending.span), resource, now, out);
                }
                self.note(trace, &report);
                self.note_passed(trace, pending.lane, choice, &report);
                out.reports.push(report);
            }
        }
        if let Some((span, bearer)) = held {
            self.release_held(trace, pending.site, on_held, span, bearer, now, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one held span, spelled out")]
    fn release_held(
        &mut self,
        trace: TraceId,
        site: Site,
        reports: Vec<Report>,
        span: crate::model::SpanId,
        bearer: annotations::Bearer,
        now: Timestamp,
        out: &mut Output,
    ) {
        let closes = self
            .sessions
            .run(trace)
            .is_some_and(|run| run.close_at.is_some());
        let is_root = closes && self.is_agent_span(trace, span);
        let mut summary = if is_root && !site.marked {
            self.summary(trace, true)
        } else {
            None
        };
        if !reports.is_empty() && self.sessions.run(trace).is_some_and(|run| run.incomplete) {
            summary.get_or_insert_default().incomplete = true;
        }
        let patch = (!reports.is_empty() || summary.is_some()).then(|| {
            annotations::mark(
                &reports,
                summary.as_ref(),
                bearer,
                site.marked,
                &self.settings.annotate,
            )
        });
        if let Some(bytes) = &patch
            && let Some(run) = self.sessions.run_mut(trace)
        {
            run.note_mark(span, bytes.clone());
        }
        self.let_go(site, patch, now, out);
    }

    fn is_agent_span(&self, trace: TraceId, span: crate::model::SpanId) -> bool {
        self.sessions.run(trace).is_some_and(|run| {
            run.lanes
                .iter()
                .flat_map(|lane| lane.lane.replies())
                .any(|reply| reply.span == span && reply.of_run)
        })
    }

    /// Why a finding is not told on its span, if it is not.
    pub(super) fn hushed(&self, choice: Choice, report: &Report, now: Timestamp) -> Option<Why> {
        let mut accepted = self.settings.ignore.iter();
        if let Some(entry) = accepted.find(|entry| entry.covers(report, now)) {
            return Some(Why::Ignored {
                entry: entry.entry,
                reason: entry.reason.clone(),
            });
        }
        let told = self.told(choice, report.finding.anomaly);
        (told.emit != Emit::Span).then_some(Why::Trial)
    }

    fn told(&self, choice: Choice, anomaly: AnomalyType) -> Told {
        self.tables
            .get(choice)
            .map_or(Told::default(), |table| table.told(anomaly))
    }

    fn note_quiet(&mut self, trace: TraceId, report: &Report, why: &Why) {
        let anomaly = report.finding.anomaly;
        match why {
            Why::Ignored { .. } => bump(&mut self.counters.ignored, anomaly),
            Why::Trial => {
                self.counters.note_trial(anomaly, report.severity);
                if let Some(run) = self.sessions.run_mut(trace) {
                    run.tally.findings = run.tally.findings.saturating_add(1);
                }
            }
        }
    }

    /// All that people need around a finding.
    pub(super) fn report_of(
        &self,
        run: &Run,
        pending: &Pending,
        choice: Choice,
        admitted: Admitted,
        moment: Moment,
    ) -> Report {
        let agent = run
            .lane(pending.lane)
            .and_then(|lane| lane.agent())
            .cloned();
        let Admitted {
            mut finding,
            also,
            state,
            severity,
            episode,
        } = admitted;
        self.settings.annotate.settle_paths(&mut finding.facts);
        let onset = episode.at_onset;
        let spent = moment
            .spent
            .zip(onset.spent)
            .map(|(now, then)| now.since(&then));
        let waste = Waste {
            calls: u32::try_from(finding.members.len())
                .unwrap_or(u32::MAX)
                .max(
                    moment
                        .calls
                        .saturating_sub(onset.calls)
                        .saturating_add(episode.onset_count),
                ),
            ms: u64::try_from(moment.member.end.since(episode.onset.start).as_millis())
                .unwrap_or(u64::MAX),
            tokens: spent.and_then(|spent| spent.known_tokens()),
            cost_usd: spent.and_then(|spent| spent.known_cost()),
        };
        // Raising is the rule's own word as well: what is configured stands.
        let severity = self
            .told(choice, finding.anomaly)
            .severity
            .unwrap_or(severity);
        let accused = finding.judged();
        let trace_url = accused.and_then(|at| self.settings.annotate.link(at.trace, at.span));
        Report {
            severity,
            state,
            episode: episode.id,
            fingerprint: fingerprint(
                &episode.rule_name(),
                &run.service,
                episode.tool.as_deref(),
                agent.as_deref(),
            ),
            session: run.session.clone(),
            service: run.service.clone(),
            agent,
            also,
            waste,
            onset: episode.onset,
            carrier: Carrier::Span(pending.span),
            at: moment.member.end,
            trace_url,
            finding,
        }
    }

    fn note(&mut self, trace: TraceId, report: &Report) {
        self.counters
            .note_report(report.finding.anomaly, report.severity);
        let Some(run) = self.sessions.run_mut(trace) else {
            return;
        };
        let tally = &mut run.tally;
        tally.findings = tally.findings.saturating_add(1);
        if report.severity < Severity::Warning {
            return;
        }
        tally.anomalies = tally.anomalies.saturating_add(1);
        tally.worst = tally.worst.max(Some(report.severity));
        tally.types |= 1 << (report.finding.anomaly as u8);
        tally.waste_ms = tally.waste_ms.max(report.waste.ms);
        if let Some(tokens) = report.waste.tokens {
            tally.waste_tokens = Some(tally.waste_tokens.unwrap_or(0).max(tokens));
        }
    }
}

/// The resource of a step, by its hash.
fn resource_of(run: &Run, pending: &Pending) -> u64 {
    let lane = run.lane(pending.lane);
    let call = lane.and_then(|lane| lane.lane.calls().get(lane.find_call(pending.order)?));
    let reply = lane.and_then(|lane| lane.lane.replies().get(lane.find_reply(pending.order)?));
    match (call, reply) {
        (Some(call), _) => call.more.resource,
        (None, Some(reply)) => reply.resource,
        (None, None) => run.resource,
    }
}
