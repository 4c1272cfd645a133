//! The repetition family: how many, of how many, and what ended the row.

use crate::lanes::Call;
use crate::model::{AnomalyType, Outcome};

use super::super::failure_loop;
use super::super::patterns;
use super::super::repeats::{AMONG, Past, Same};
use super::super::transition_repeat::answers_needed;
use super::super::wording;
use super::{Asked, of};

pub(super) fn explain(asked: &Asked<'_>, anomaly: AnomalyType) -> Vec<String> {
    let Some(past) = Past::new(asked.view, asked.ready) else {
        return vec!["waiting is no step".to_owned()];
    };
    if asked.source() {
        return source(asked, &past, anomaly);
    }
    match anomaly {
        AnomalyType::FailureLoop => failures(asked, &past),
        AnomalyType::PingPong => vec![rounds(
            &past,
            2,
            asked.settings.ping_pong.window as usize / 2,
        )],
        AnomalyType::Loop => cycle(asked, &past),
        AnomalyType::TransitionRepeat => transitions(asked, &past),
        _ => repeats(asked, &past),
    }
}

/// The source rules look at equal calls alone.
fn source(asked: &Asked<'_>, past: &Past<'_>, anomaly: AnomalyType) -> Vec<String> {
    let equal = |call: &&Call| call.exact.is_some() && call.exact == past.judged.exact;
    let row = past.calls.iter().rev().take_while(equal).count();
    let settings = asked.settings;
    vec![match anomaly {
        AnomalyType::Stuck => of(
            row,
            settings.stuck.threshold as usize,
            "equal calls in a row",
        ),
        AnomalyType::FailureLoop => {
            let failed = past
                .calls
                .iter()
                .rev()
                .take(row)
                .take_while(|call| call.outcome.failed());
            of(
                failed.count(),
                settings.failure_loop.threshold as usize,
                "equal calls in a row that failed",
            )
        }
        AnomalyType::TransitionRepeat => {
            let window = settings.transition_repeat.window as usize;
            let calls = past
                .calls
                .iter()
                .rev()
                .take(if window == 0 { usize::MAX } else { window });
            of(
                calls.filter(equal).count(),
                settings.transition_repeat.repeats as usize,
                "equal calls in the window",
            )
        }
        _ => format!("{row} equal calls at the end of the row"),
    }]
}

fn repeats(asked: &Asked<'_>, past: &Past<'_>) -> Vec<String> {
    let threshold = past.threshold(asked.settings.stuck.threshold);
    if past.judged.void {
        let voids = past
            .back()
            .take(AMONG as usize - 1)
            .filter(|(_, c)| c.void && c.tool == past.judged.tool);
        return vec![of(1 + voids.count(), threshold, "calls that do nothing")];
    }
    if past.judged.key.is_none() {
        return vec!["without arguments calls cannot be compared".to_owned()];
    }
    let row = past.row();
    let mut said = vec![of(row.sure, threshold, "equal calls with equal answers")];
    let among = AMONG.max(u32::try_from(threshold).unwrap_or(u32::MAX));
    if row.sure >= threshold && past.enough(&row, threshold, among).is_none() {
        said.push(format!(
            "but spread over more than {among} calls, or with more patience due"
        ));
    }
    if row.members.len() > row.sure {
        said.push(format!(
            "{} more with answers that are not known; such rows need {}",
            row.members.len() - row.sure,
            threshold.saturating_mul(2)
        ));
    }
    said.extend(patience(past));
    said.extend(row_end(past));
    said
}

/// Polls and unfinished states have more time.
fn patience(past: &Past<'_>) -> Option<String> {
    if past.polls(past.judged) {
        return Some(
            "a poll: 10 answers without anything new are needed, or 6 over 5 minutes".to_owned(),
        );
    }
    past.judged.answer.pending.then(|| {
        "its answer is not final: asked for 10 s apart or more it has the patience of a poll"
            .to_owned()
    })
}

/// What the row of repeats ended at, seen from the judged call.
fn row_end(past: &Past<'_>) -> Option<String> {
    let mut since = 0;
    for (index, call) in past.back() {
        since += 1;
        if since > AMONG {
            return None;
        }
        if past.same_call(call, past.judged) {
            if past.same_answer(call, past.judged) == Same::No {
                return Some(format!(
                    "the row begins after step {}: the same call was answered differently there",
                    call.step
                ));
            }
            since = 0;
        } else if past.resets(index, past.judged) {
            return Some(format!(
                "the row begins after step {}: `{}` changed what this call depends on",
                call.step,
                wording::tool(past.names, call.tool)
            ));
        }
    }
    before_the_turn(past)
}

/// An equal call before the present turn does not count.
fn before_the_turn(past: &Past<'_>) -> Option<String> {
    let earlier = past
        .calls
        .iter()
        .rev()
        .skip(1)
        .find(|call| call.turn != past.judged.turn)?;
    let same = past
        .calls
        .iter()
        .rev()
        .any(|call| call.turn != past.judged.turn && past.same_call(call, past.judged));
    same.then(|| {
        format!(
            "equal calls up to step {} do not count: a user turn lies between",
            earlier.step
        )
    })
}

fn failures(asked: &Asked<'_>, past: &Past<'_>) -> Vec<String> {
    let failure = match past.judged.outcome {
        Outcome::Failed(failure) if failure.is_answer => {
            return vec![
                "not concerned: its exit code is an answer (no match, a difference), no failure"
                    .to_owned(),
            ];
        }
        Outcome::Failed(failure) => failure,
        Outcome::Succeeded => return vec!["not concerned: the call did not fail".to_owned()],
        Outcome::Refused => {
            return vec!["not concerned: refused and cancelled calls are no failures".to_owned()];
        }
        Outcome::Unknown => return vec!["nothing says how the call ended".to_owned()],
    };
    let threshold = past.threshold(asked.settings.failure_loop.threshold);
    let alike = failure_loop::alike(past, failure);
    let mut said = vec![
        of(
            failure_loop::same_call(past, failure).len(),
            threshold,
            "tries of this call that failed with this error",
        ),
        of(
            alike.same_names.len(),
            threshold,
            "tries in a row under nearly equal arguments that failed with this error",
        ),
    ];
    if alike.all.len() > alike.same_names.len() {
        said.push(of(
            alike.all.len(),
            threshold.saturating_mul(failure_loop::GUESSES),
            "tries in a row under nearly equal arguments that failed with this kind of error about any name",
        ));
    }
    said.extend(row_end(past));
    said
}

fn rounds(past: &Past<'_>, period: usize, needed: usize) -> String {
    if past.judged.key.is_none() {
        return "without arguments calls cannot be compared".to_owned();
    }
    if !past.seen_before() {
        return "this call was not made before: no round ends here".to_owned();
    }
    let units = patterns::units(past);
    if period == 2
        && let [newest, before, ..] = units.as_slice()
        && newest.same_calls(before, past)
    {
        return "the last two tries are the same one: that is a repeat, no pattern".to_owned();
    }
    let rounds = patterns::rounds(&units, period, past);
    let patient = if patterns::waits_for_something(&units, period, past) {
        "; a round with a poll or an unfinished state needs 5"
    } else {
        ""
    };
    let unknown = if rounds.all() > rounds.sure() {
        format!(", {} counting answers that are not known", rounds.all())
    } else {
        String::new()
    };
    format!(
        "{} with equal answers{unknown}{patient}",
        of(
            rounds.sure(),
            needed.max(2),
            &format!("rounds of {period} tries")
        )
    )
}

fn cycle(asked: &Asked<'_>, past: &Past<'_>) -> Vec<String> {
    let needed = asked.settings.r#loop.min_repeats as usize;
    if past.judged.key.is_none() || !past.seen_before() {
        return vec![rounds(past, 3, needed)];
    }
    let units = patterns::units(past);
    let best = (3..=8).max_by_key(|period| {
        let rounds = patterns::rounds(&units, *period, past);
        (rounds.all(), std::cmp::Reverse(*period))
    });
    let period = best.unwrap_or(3);
    let mut said = vec![rounds(past, period, needed)];
    if patterns::has_shorter_period(&units, period, past) {
        said.push("the pattern is a shorter one come several times: stuck or ping_pong".to_owned());
    }
    said
}

fn transitions(asked: &Asked<'_>, past: &Past<'_>) -> Vec<String> {
    let settings = &asked.settings.transition_repeat;
    if past.judged.key.is_none() {
        return vec!["without arguments calls cannot be compared".to_owned()];
    }
    let mut row = past.row();
    past.one_a_try(&mut row);
    let mut said = vec![of(
        row.sure,
        past.threshold(settings.repeats),
        &format!(
            "tries with this call and answer within {} calls",
            settings.window
        ),
    )];
    if past.changes_nothing(past.judged) && past.judged.answer.known {
        let looks = past.back().take_while(|(_, call)| {
            past.changes_nothing(call) && past.same_answer(call, past.judged) == Same::Yes
        });
        said.push(of(
            1 + looks.count(),
            answers_needed(past, true),
            "looks in a row with one answer, whatever was asked",
        ));
    } else {
        said.push(
            "one answer to different calls counts only for calls that change nothing".to_owned(),
        );
    }
    said.extend(patience(past));
    said.extend(row_end(past));
    said
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::detectors::testing::Bench;
    use crate::detectors::{Judgement, Rules, Settings, Table, explain};
    use crate::lanes::At;
    use crate::model::AnomalyType;

    fn why(line: &str, anomaly: AnomalyType) -> String {
        let bench = Bench::of(line);
        let view = bench.view(At::Call(bench.lane.calls().len() - 1));
        explain(&Settings::default(), Rules::Aware, anomaly, &view).join("; ")
    }

    #[test]
    fn what_a_row_of_repeats_lacks() {
        use AnomalyType::{FailureLoop, Loop, PingPong, Stuck, TransitionRepeat};
        insta::assert_snapshot!(why("a b a", Stuck), @"2 of 3 equal calls with equal answers");
        insta::assert_snapshot!(why("a=x a a", Stuck), @"2 of 3 equal calls with equal answers; the row begins after step 0: the same call was answered differently there");
        insta::assert_snapshot!(why("a<f a<f e>f(edit) a<f", Stuck), @"1 of 3 equal calls with equal answers; the row begins after step 2: `e` changed what this call depends on");
        insta::assert_snapshot!(why("a a | a", Stuck), @"1 of 3 equal calls with equal answers; equal calls up to step 1 do not count: a user turn lies between");
        insta::assert_snapshot!(why("a a? a?", Stuck), @"1 of 3 equal calls with equal answers; 2 more with answers that are not known; such rows need 6");
        insta::assert_snapshot!(why("a~", Stuck), @"waiting is no step");
        insta::assert_snapshot!(why("a! a! a", FailureLoop), @"not concerned: the call did not fail");
        insta::assert_snapshot!(why("a! a!", FailureLoop), @"2 of 3 tries of this call that failed with this error; 2 of 3 tries in a row under nearly equal arguments that failed with this error");
        insta::assert_snapshot!(why("a b a", PingPong), @"1 of 2 rounds of 2 tries with equal answers");
        insta::assert_snapshot!(why("a b c a", Loop), @"1 of 2 rounds of 3 tries with equal answers");
        insta::assert_snapshot!(why("a b c", Loop), @"this call was not made before: no round ends here");
        insta::assert_snapshot!(why("a b a", TransitionRepeat), @"2 of 3 tries with this call and answer within 9 calls; 1 of 5 looks in a row with one answer, whatever was asked");
    }

    /// `n of m ...`, the first of each sentence.
    fn counts(said: &[String]) -> Vec<(usize, usize)> {
        let two = |text: &String| {
            let mut words = text.split(' ');
            let n = words.next()?.parse().ok()?;
            let m = (words.next()? == "of").then(|| words.next()?.parse().ok())??;
            Some((n, m))
        };
        said.iter().filter_map(two).collect()
    }

    proptest! {
        /// What is told never contradicts what is judged: whoever fires has enough of something, and who has not
        /// enough of anything does not fire.
        #[test]
        fn the_numbers_agree_with_the_verdict(
            tokens in prop::collection::vec(
                prop::sample::select(vec!["a", "a", "b", "c", "a!", "b!", "a1", "a2", "a=x", "e>f(edit)", "a<f", "|", "w~"]),
                1..24,
            )
        ) {
            let line = format!("a {}", tokens.join(" "));
            let bench = Bench::of(&line);
            let table = Table::new(&Settings::default(), Rules::Aware);
            for at in 0..bench.lane.calls().len() {
                let view = bench.view(At::Call(at));
                for (anomaly, judgement) in table.judge(&view) {
                    if anomaly.family_rank().is_none() || !matches!(judgement, Judgement::Found(_)) {
                        continue;
                    }
                    let said = explain(&Settings::default(), Rules::Aware, anomaly, &view);
                    prop_assert!(
                        counts(&said).iter().any(|(n, m)| n >= m),
                        "{line} at {at}: {anomaly} fires, but {said:?}"
                    );
                }
            }
        }
    }
}
