//! A request on its way through: taken in, judged, released.

use bytes::Bytes;
use smallvec::{SmallVec, smallvec};

use crate::annotations::{self, Bearer, RunSummary};
use crate::model::{
    Action, Link, Patch, Release, Report, Selection, SpanId, Step, Timestamp, TraceId,
};
use crate::sessions::{Seen, Site};
use crate::steps::Reading;

use super::holds::Held;
use super::{Cut, Engine, Mode, Output};

/// The request being worked on: nothing of it has left yet.
#[derive(Debug)]
pub(super) struct Work {
    /// Its number.
    pub(super) number: u64,
    body: Bytes,
    spans: u32,
    /// Its steps, for the times of spans and for who is an agent's.
    steps: Vec<StepSite>,
    /// Reports by position of the span that carries them.
    marks: Vec<(u32, Report)>,
    /// Patches of second copies.
    copies: Vec<Patch>,
    /// Positions of spans that stay behind.
    held: Vec<u32>,
    /// Runs that got steps.
    touched: SmallVec<[TraceId; 8]>,
}

#[derive(Clone, Copy, Debug)]
struct StepSite {
    index: u32,
    run: TraceId,
    span: SpanId,
    bearer: Bearer,
    marked: bool,
    of_agent: bool,
    closes: bool,
}

impl Work {
    fn step(&self, index: u32) -> Option<&StepSite> {
        let at = self
            .steps
            .binary_search_by_key(&index, |step| step.index)
            .ok()?;
        self.steps.get(at)
    }

    /// Puts a report on a span of this request; `false` when the span is not of it.
    pub(super) fn mark(&mut self, site: Site, report: &Report) -> bool {
        let here = site.body == self.number && !self.held.contains(&site.index);
        if here {
            self.marks.push((site.index, report.clone()));
        }
        here
    }
}

impl Engine {
    pub(super) fn take_in(&mut self, mut reading: Reading, now: Timestamp, out: &mut Output) {
        if reading.tells_records() {
            self.take_in_records(reading, now, out);
        } else {
            self.complete(&mut reading);
            self.take_in_steps(reading, now, out);
        }
    }

    /// Takes in the steps of a request, and sends its spans on.
    pub(super) fn take_in_steps(&mut self, reading: Reading, now: Timestamp, out: &mut Output) {
        self.bodies += 1;
        self.counters.spans += u64::from(reading.spans);
        self.counters.already_marked += u64::from(reading.already_marked);
        self.known.note(&reading.told);
        self.contents.meet(&reading.coverage, now, &mut out.notices);
        if reading.steps.is_empty() {
            if reading.spans > 0 {
                out.releases.push(whole(reading.body, reading.spans));
            }
            return;
        }
        for (hash, bytes) in &reading.resources {
            self.resources.meet(*hash, bytes);
        }
        let mut work = Work {
            number: self.bodies,
            body: reading.body,
            spans: reading.spans,
            steps: Vec::with_capacity(reading.steps.len()),
            marks: Vec::new(),
            copies: Vec::new(),
            held: Vec::new(),
            touched: SmallVec::new(),
        };
        self.note_links(&reading.steps, &reading.links, now);
        let overdue = self.overdue(&reading.steps, now);
        let mut read = Vec::new();
        for step in &reading.steps {
            if !overdue.is_empty() {
                read.extend(self.member_of(step));
            }
            self.observe(step, &mut work, now, out);
        }
        for run in work.touched.clone() {
            self.sessions.check_arguments(run);
            self.settle_run(run, now, Some(&mut work), out);
        }
        self.report_overdue(overdue, &read, out);
        for run in work.touched.clone() {
            self.watch(run, now, out);
        }
        if self.settings.mode == Mode::Annotate {
            out.cuts.extend(self.hold_accused(&mut work, now));
        }
        self.release(work, out);
    }

    /// Spans between steps are known before the steps are looked at, those of a new run as well.
    fn note_links(&mut self, steps: &[Step], links: &[Link], now: Timestamp) {
        if links.is_empty() {
            return;
        }
        let opened = self.sessions.opened();
        for step in steps {
            self.sessions.open_for(step, now);
        }
        self.counters.runs_opened += self.sessions.opened() - opened;
        for link in links {
            self.sessions.link(link);
        }
    }

    fn observe(&mut self, step: &Step, work: &mut Work, now: Timestamp, out: &mut Output) {
        self.counters.steps += 1;
        // A step told by a log record has no span that could be marked.
        let site = if work.spans == 0 {
            Site::GONE
        } else {
            Site {
                body: work.number,
                index: step.index,
                marked: step.already_marked,
            }
        };
        let opened = self.sessions.opened();
        let seen = self.sessions.observe(step, site, now);
        self.counters.runs_opened += self.sessions.opened() - opened;
        for site in self.sessions.superseded() {
            self.let_go(site, None, now, out);
        }
        self.tables.meet(&self.sessions.names, step.agent.as_ref());
        let run = self.sessions.key_of(step.trace);
        work.steps.push(StepSite {
            index: step.index,
            run,
            span: step.span,
            bearer: Bearer {
                start: step.start,
                end: step.end,
                unset: step.status_unset,
            },
            marked: step.already_marked,
            of_agent: matches!(&step.action, Action::AgentRun(agent) if !agent.handoff),
            closes: step.parent.is_none(),
        });
        match seen {
            Seen::Pending | Seen::Plain => {
                if !work.touched.contains(&run) {
                    work.touched.push(run);
                }
            }
            Seen::Duplicate(patch) => {
                self.counters.duplicate_spans += 1;
                if let Some(bytes) = patch.filter(|_| self.settings.mode == Mode::Annotate) {
                    work.copies.push(Patch {
                        span: step.index,
                        bytes,
                    });
                }
            }
            Seen::SecondSpan => self.counters.second_spans += 1,
            Seen::Late => self.counters.late_steps += 1,
            Seen::OverLimit => self.counters.over_limit += 1,
        }
    }

    /// Keeps back the spans of this request on which a finding is provisional.
    fn hold_accused(&mut self, work: &mut Work, now: Timestamp) -> Option<Cut> {
        let mut spans = Vec::new();
        for run in &work.touched {
            for site in self.accused(*run, work.number, now) {
                let Some(step) = work.step(site.index) else {
                    continue;
                };
                let held = Held {
                    run: *run,
                    span: step.span,
                    bearer: step.bearer,
                    since: now,
                };
                spans.push((site, held));
            }
        }
        spans.sort_by_key(|(site, _)| site.index);
        spans.dedup_by_key(|(site, _)| site.index);
        self.counters.held_spans += spans.len() as u64;
        work.held.extend(spans.iter().map(|(site, _)| site.index));
        self.holds.hold(&work.body, spans)
    }

    /// Sends a request on: whole where possible, with what is appended to single spans.
    fn release(&mut self, mut work: Work, out: &mut Output) {
        let mut patches = std::mem::take(&mut work.copies);
        if self.settings.mode == Mode::Annotate {
            self.patches(&mut work, &mut patches);
        }
        patches.sort_by_key(|patch| patch.span);
        patches.dedup_by_key(|patch| patch.span);
        work.held.sort_unstable();
        let spans = all_but(&work.held, work.spans);
        let count = work.spans - u32::try_from(work.held.len()).unwrap_or(work.spans);
        if count > 0 {
            out.releases.push(Release {
                body: work.body,
                spans,
                count,
                patches,
                synthetic: false,
            });
        }
    }

    fn patches(&mut self, work: &mut Work, patches: &mut Vec<Patch>) {
        let mut marks = std::mem::take(&mut work.marks);
        marks.sort_by_key(|(index, _)| *index);
        for step in &work.steps {
            if work.held.contains(&step.index) {
                continue;
            }
            let reports: Vec<Report> = marks
                .iter()
                .filter(|(index, _)| *index == step.index)
                .map(|(_, report)| report.clone())
                .collect();
            let summary = if step.of_agent && !step.marked {
                self.summary(step.run, step.closes)
            } else {
                None
            };
            if reports.is_empty() && summary.is_none() {
                continue;
            }
            let bytes = annotations::mark(
                &reports,
                summary.as_ref(),
                step.bearer,
                step.marked,
                &self.settings.annotate,
            );
            if let Some(run) = self.sessions.run_mut(step.run) {
                run.note_mark(step.span, bytes.clone());
            }
            patches.push(Patch {
                span: step.index,
                bytes,
            });
        }
    }

    /// What the span of an agent tells of its run; what could not be judged only where the run closes.
    pub(super) fn summary(&self, run: TraceId, closes: bool) -> Option<RunSummary> {
        let run = self.sessions.run(run)?;
        if self.known.in_trace(run.id) {
            return None;
        }
        let types = crate::model::AnomalyType::ALL
            .into_iter()
            .filter(|anomaly| run.tally.types & (1 << (*anomaly as u8)) != 0);
        let summary = RunSummary {
            anomalies: run.tally.anomalies,
            worst: run.tally.worst,
            types: types.collect(),
            waste_ms: run.tally.waste_ms,
            waste_tokens: run.tally.waste_tokens,
            not_assessed: if closes {
                self.not_assessed(run)
            } else {
                Vec::new()
            },
            incomplete: false,
        };
        (!summary.is_empty()).then_some(summary)
    }

    /// Lets a held span go, marked or not.
    pub(super) fn let_go(
        &mut self,
        site: Site,
        patch: Option<Bytes>,
        now: Timestamp,
        out: &mut Output,
    ) {
        if let Some((held, release)) = self.holds.let_go(site, patch) {
            let waited = now.since(held.since).as_nanos();
            self.counters
                .note_hold(u64::try_from(waited).unwrap_or(u64::MAX));
            out.releases.push(release);
        }
    }
}

fn whole(body: Bytes, count: u32) -> Release {
    Release {
        body,
        spans: Selection::All,
        count,
        patches: Vec::new(),
        synthetic: false,
    }
}

/// All positions below `spans` but those in `held`, which is sorted.
fn all_but(held: &[u32], spans: u32) -> Selection {
    if held.is_empty() {
        return Selection::All;
    }
    let mut ranges = smallvec![];
    let mut next = 0;
    for index in held {
        if *index > next {
            ranges.push(next..*index);
        }
        next = index + 1;
    }
    if next < spans {
        ranges.push(next..spans);
    }
    Selection::Ranges(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_held_leaves() {
        assert_eq!(all_but(&[], 3), Selection::All);
        assert_eq!(
            all_but(&[0, 2], 4),
            Selection::Ranges(smallvec![1..2, 3..4])
        );
        assert_eq!(all_but(&[1, 2], 3), Selection::Ranges(smallvec![0..1]));
        assert_eq!(all_but(&[0], 1), Selection::Ranges(smallvec![]));
    }
}
