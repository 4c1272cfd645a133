//! Asking the detectors about one step. A panic is caught and counted against its detector.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;

use crate::detectors::{Choice, Detector, Judgement, Tables, Who};
use crate::lanes::{At, NameId, Order, View};
use crate::model::{AnomalyType, Finding, Lack, Timestamp};
use crate::policies::Moment;
use crate::sessions::{LaneId, Pending, Run, Sessions};

/// Panics after which a detector is switched off.
const STRIKES_MAX: u8 = 3;

/// How often each detector has panicked.
#[derive(Debug, Default)]
pub(super) struct Strikes([u8; AnomalyType::ALL.len()]);

impl Strikes {
    fn is_out(&self, anomaly: AnomalyType) -> bool {
        self.0
            .get(usize::from(anomaly as u8))
            .is_some_and(|strikes| *strikes >= STRIKES_MAX)
    }

    pub(super) fn add(&mut self, anomaly: AnomalyType) -> bool {
        if let Some(strikes) = self.0.get_mut(usize::from(anomaly as u8)) {
            *strikes = strikes.saturating_add(1);
        }
        self.is_out(anomaly)
    }
}

/// What the detectors say of one step.
#[derive(Debug, Default)]
pub(super) struct Opinion {
    /// When it became true, where no step says so.
    pub(super) at: Option<Timestamp>,
    pub(super) findings: Vec<Finding>,
    pub(super) lacks: SmallVec<[(AnomalyType, Lack); 2]>,
    pub(super) panicked: SmallVec<[AnomalyType; 1]>,
    /// By which detectors it was judged.
    pub(super) choice: Choice,
}

/// One step as it stands in its lane, with all that policy wants to know.
pub(super) struct Case<'a> {
    pub(super) view: View<'a>,
    pub(super) moment: Moment,
    pub(super) key: Option<u64>,
    pub(super) fired: u32,
    pub(super) lane_unknown: bool,
    pub(super) choice: Choice,
}

/// By which table a step of a lane is judged.
pub(super) fn choice_for(tables: &Tables, run: &Run, lane: LaneId, order: Order) -> Choice {
    let Some(lane) = run.lane(lane) else {
        return Choice::default();
    };
    let call = lane.find_call(order);
    let call = call.and_then(|at| lane.lane.calls().get(at));
    let reply = lane.find_reply(order);
    let reply = reply.and_then(|at| lane.lane.replies().get(at));
    let (audience, tool) = match (call, reply) {
        (Some(call), _) => (call.audience, Some(call.tool)),
        (None, Some(reply)) => {
            // An answer is judged by one table: that of the first tool it asks for.
            let mut wants = run.facts.asks.wants().iter();
            let first = wants.find(|wanted| wanted.order == order);
            (reply.audience, first.map(|wanted| wanted.tool))
        }
        (None, None) => return Choice::default(),
    };
    tables.choose(&Who {
        audience,
        agent: lane.agent(),
        tool,
    })
}

pub(super) fn case_of<'a>(
    sessions: &'a Sessions,
    tables: &Tables,
    run: &'a Run,
    pending: &Pending,
) -> Option<Case<'a>> {
    let lane = run.lane(pending.lane)?;
    let at = if pending.is_call {
        At::Call(lane.find_call(pending.order)?)
    } else {
        At::Reply(lane.find_reply(pending.order)?)
    };
    let view = View {
        at,
        lane: &lane.lane,
        run: &run.facts,
        ledger: sessions.ledger_of(run),
        names: &sessions.names,
        reach: tables.window_max(),
    };
    let (member, turn, key, fired, lane_unknown) = match (view.call(), view.reply()) {
        (Some(call), _) => (
            call.member(),
            call.turn,
            call.key,
            call.fired,
            call.lane_unknown,
        ),
        (None, Some(reply)) => (reply.member(), reply.turn, None, 0, false),
        (None, None) => return None,
    };
    let (audience, tool) = match (view.call(), view.reply()) {
        (Some(call), _) => (call.audience, Some(call.tool)),
        (None, Some(reply)) => (reply.audience, unmet(run, reply.order)),
        (None, None) => (0, None),
    };
    let choice = tables.choose(&Who {
        audience,
        agent: lane.agent(),
        tool,
    });
    let moment = Moment {
        member,
        turn,
        calls: run.facts.calls_by(pending.order),
        spent: run.facts.spent_by(member.end),
    };
    Some(Case {
        view,
        moment,
        key,
        fired,
        lane_unknown,
        choice,
    })
}

/// The tool of the newest request before an answer that no call has met: what can be found there is about it.
fn unmet(run: &Run, before: Order) -> Option<NameId> {
    let mut wants = run.facts.asks.wants().iter().rev();
    wants
        .find(|want| want.order < before && !want.ran)
        .map(|want| want.tool)
}

pub(super) fn ask_all(tables: &Tables, strikes: &Strikes, case: &Case<'_>) -> Opinion {
    ask_with(tables, strikes, case, case.fired, |detector, view| {
        detector.judge(view)
    })
}

/// What the detectors say of a lane whose run is over.
pub(super) fn ask_at_end(tables: &Tables, strikes: &Strikes, case: &Case<'_>) -> Opinion {
    ask_with(tables, strikes, case, 0, |detector, view| {
        detector.judge_end(view)
    })
}

fn ask_with(
    tables: &Tables,
    strikes: &Strikes,
    case: &Case<'_>,
    fired: u32,
    ask: impl Fn(&dyn Detector, &View<'_>) -> Judgement,
) -> Opinion {
    let mut opinion = Opinion {
        choice: case.choice,
        ..Opinion::default()
    };
    let Some(table) = tables.get(case.choice) else {
        return opinion;
    };
    let mut panicked = SmallVec::new();
    let verdicts = table.judge_with(&case.view, |detector: &dyn Detector, view| {
        if strikes.is_out(detector.anomaly()) {
            return Judgement::Quiet;
        }
        // A detector has no state that a panic could leave half changed.
        catch_unwind(AssertUnwindSafe(|| ask(detector, view))).unwrap_or_else(|_| {
            panicked.push(detector.anomaly());
            Judgement::Quiet
        })
    });
    for (anomaly, judgement) in verdicts {
        match judgement {
            Judgement::Quiet => {}
            Judgement::NotAssessed(lack) => opinion.lacks.push((anomaly, lack)),
            Judgement::Found(finding) => {
                if fired & (1 << (anomaly as u8)) == 0 {
                    opinion.findings.push(*finding);
                }
            }
            Judgement::Several(findings) => {
                if fired & (1 << (anomaly as u8)) == 0 {
                    opinion.findings.extend(findings);
                }
            }
        }
    }
    if case.lane_unknown {
        let family = AnomalyType::ALL
            .into_iter()
            .filter(|a| a.family_rank().is_some());
        opinion
            .lacks
            .extend(family.map(|anomaly| (anomaly, Lack::LaneUnknown)));
    }
    opinion.panicked = panicked;
    opinion
}
