//! `empty_response`: model answers without content.
//!
//! - Invariant: /1 an answer without a visible character that asks for no tool and has ended its turn fires at
//!   once; where nothing says how it ended, `threshold` of them in a row; /2 `threshold` answers in a row of
//!   at most `max_chars` characters that hold no letter, digit, emoji or bracket pair; /3 one short text given
//!   `threshold` times in a row within one turn (A9).
//! - Ignores: answers that ask for tools (they end a row), texts that were not captured, failed requests, the
//!   span of a run that only repeats its last answer.
//! - Source rule (Promptise EMPTY_RESPONSE): the last `threshold` answers have at most `max_chars` code points.
//! - Cost: a few comparisons; a walk back over at most 16 answers when one is short.

use smallvec::SmallVec;

use crate::lanes::{Reply, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Finish, Lack, Severity, TextFacts};

use super::ready::Ready;
use super::repeats::{hash, mix};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `empty_response`.
    pub struct Config (enabled: true) {
        /// Empty answers in a row needed.
        threshold: u32 = 3,
        /// Code points up to which an answer counts as empty, white space at both ends taken off.
        max_chars: u32 = 10,
    }
}

/// The detector.
#[derive(Debug)]
pub(super) struct EmptyResponse {
    threshold: usize,
    max_chars: u32,
    ready: Ready,
}

/// Answers of a row, newest first.
type Row<'v> = SmallVec<[&'v Reply; 8]>;

impl EmptyResponse {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            threshold: usize::try_from(config.threshold.max(1)).unwrap_or(usize::MAX),
            max_chars: config.max_chars,
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, view: &View<'_>, judged: &Reply, text: &TextFacts) -> Judgement {
        if text.chars > self.max_chars {
            return Judgement::Quiet;
        }
        let row = row(view, judged, |_, text| text.chars <= self.max_chars);
        if row.len() < self.threshold {
            return Judgement::Quiet;
        }
        let row = row.get(..self.threshold).unwrap_or_default();
        let mut finding = self.finding(row, 1);
        finding.message = wording::message(format!(
            "{} answers in a row had at most {} characters",
            row.len(),
            self.max_chars
        ));
        Judgement::Found(Box::new(finding))
    }

    fn aware(&self, view: &View<'_>, judged: &Reply, text: &TextFacts) -> Judgement {
        if judged.asks_for_calls || judged.failed {
            return Judgement::Quiet;
        }
        if !text.visible {
            return self.blank(view, judged);
        }
        if text.chars > self.max_chars {
            return Judgement::Quiet;
        }
        let short = row(view, judged, |reply, text| {
            !reply.asks_for_calls && text.chars <= self.max_chars && !text.meaningful
        });
        if !text.meaningful && short.len() >= self.threshold {
            let mut finding = self.finding(&short, 2);
            finding.confidence = Confidence::Likely;
            finding.message = wording::message(format!(
                "{} answers in a row said nothing in at most {} characters",
                short.len(),
                self.max_chars
            ));
            return Judgement::Found(Box::new(finding));
        }
        let again = row(view, judged, |reply, other| {
            !reply.asks_for_calls
                && other.hash == text.hash
                && reply.turn == judged.turn
                && reply.trace == judged.trace
        });
        if again.len() < self.threshold {
            return Judgement::Quiet;
        }
        let mut finding = self.finding(&again, 3);
        finding.reason = Some("same_text");
        finding.confidence = Confidence::Likely;
        finding.message = wording::message(format!(
            "the same short answer of {} characters was given {} times in one turn",
            text.chars,
            again.len()
        ));
        Judgement::Found(Box::new(finding))
    }

    fn blank(&self, view: &View<'_>, judged: &Reply) -> Judgement {
        let row = row(view, judged, |reply, text| {
            !reply.asks_for_calls && !text.visible
        });
        let ended = judged.of_run || matches!(judged.finish, Finish::Stop | Finish::Length);
        if !ended && row.len() < self.threshold {
            return Judgement::Quiet;
        }
        let mut finding = self.finding(&row, 1);
        if ended {
            finding.severity = self.ready.severity(Severity::Error);
        }
        let why = match judged.finish {
            Finish::Length => " and ran into its length limit",
            _ if ended => " and ended its turn",
            _ => "",
        };
        if judged.finish == Finish::Length {
            finding.reason = Some("length");
        }
        finding.message = wording::message(match row.len() {
            1 => format!("the model answered without a visible character{why}"),
            times => {
                let why = why.strip_prefix(" and").unwrap_or(why);
                format!("{times} answers in a row were without a visible character; the last{why}")
            }
        });
        if row.len() > 1 && why.is_empty() {
            finding.message = format!(
                "{} answers in a row were without a visible character",
                row.len()
            );
        }
        Judgement::Found(Box::new(finding))
    }

    fn finding(&self, row: &[&Reply], rule: u8) -> Finding {
        let mut members: SmallVec<_> = row.iter().rev().map(|reply| reply.member()).collect();
        let over = members.len().saturating_sub(Finding::MEMBERS_MAX);
        members.drain(..over);
        let chars = |reply: &&Reply| reply.text.map_or(0, |text| i64::from(text.chars));
        let longest = row.iter().map(chars).max().unwrap_or_default();
        Finding {
            anomaly: AnomalyType::EmptyResponse,
            rule,
            severity: self.ready.severity(Severity::Warning),
            confidence: Confidence::Exact,
            reason: None,
            members,
            count: u32::try_from(row.len()).unwrap_or(u32::MAX),
            tool: None,
            evidence_key: mix(hash(b"empty_response"), 0),
            shape: SmallVec::new(),
            facts: vec![
                (
                    "answers",
                    Fact::Int(i64::try_from(row.len()).unwrap_or(i64::MAX)),
                ),
                ("longest_chars", Fact::Int(longest)),
                ("max_chars", Fact::Int(self.max_chars.into())),
            ],
            message: String::new(),
        }
    }
}

impl Detector for EmptyResponse {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::EmptyResponse
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.reply() else {
            return Judgement::Quiet;
        };
        let Some(text) = &judged.text else {
            return if judged.of_run || judged.asks_for_calls || view.run.seen_texts {
                Judgement::Quiet
            } else {
                Judgement::NotAssessed(Lack::NoText)
            };
        };
        match self.ready.rules {
            Rules::Source => self.source(view, judged, text),
            Rules::Aware if judged.of_run && told_before(view, judged, text) => Judgement::Quiet,
            Rules::Aware => self.aware(view, judged, text),
        }
    }
}

/// Answers before the judged one, of all lanes of the conversation, newest first.
fn before<'v>(view: &View<'v>, judged: &'v Reply) -> impl Iterator<Item = &'v Reply> {
    let known = view.ledger.replies();
    let replies = if known.is_empty() {
        view.replies()
    } else {
        known
    };
    replies
        .iter()
        .rev()
        .filter(move |reply| reply.order < judged.order && reply.span != judged.span)
}

/// The judged answer and those before it that `counts` says yes to. A text not captured, and a run's repeat
/// of its last answer, are no answers.
fn row<'v>(
    view: &View<'v>,
    judged: &'v Reply,
    counts: impl Fn(&Reply, &TextFacts) -> bool,
) -> Row<'v> {
    let mut row = Row::new();
    row.push(judged);
    for reply in before(view, judged) {
        let Some(text) = &reply.text else { continue };
        if reply.of_run && !judged.of_run {
            continue;
        }
        // The answer that a run's span of the row repeats.
        let repeated = |of: &&Reply| of.of_run && of.trace == reply.trace && same_text(of, text);
        if !reply.of_run && row.iter().any(repeated) {
            continue;
        }
        if !counts(reply, text) {
            break;
        }
        row.push(reply);
    }
    row
}

fn same_text(reply: &Reply, text: &TextFacts) -> bool {
    reply.text.is_some_and(|other| other.hash == text.hash)
}

/// Whether the output of a run only repeats an answer that was given in it. Of a blank one that did not say why it
/// stopped only the run's end tells that the turn ended with it.
fn told_before(view: &View<'_>, judged: &Reply, text: &TextFacts) -> bool {
    before(view, judged)
        .filter(|reply| reply.trace == judged.trace)
        .find(|reply| same_text(reply, text))
        .is_some_and(|reply| text.visible || reply.of_run || reply.finish != Finish::Unknown)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding, text};
    use super::*;

    fn detector(rules: Rules) -> EmptyResponse {
        EmptyResponse::new(&Config::default(), rules)
    }

    /// Whether the last of these answers is found, with rule, reason and severity.
    fn judge(rules: Rules, answers: &[(&str, Finish)]) -> Option<Finding> {
        let mut bench = Bench::default();
        for (words, finish) in answers {
            bench.reply(Some(text(words)), *finish);
        }
        finding(bench.last_reply(&detector(rules)))
    }

    #[test]
    fn source_row() {
        let unknown = Finish::Unknown;
        assert!(judge(Rules::Source, &[("...", unknown); 3]).is_some());
        assert!(judge(Rules::Source, &[("...", unknown); 2]).is_none());
        assert!(judge(Rules::Source, &[("0123456789", unknown); 3]).is_some());
        assert!(judge(Rules::Source, &[("0123456789a", unknown); 3]).is_none());
    }

    #[test]
    fn a9_blank_at_the_end_of_a_turn_is_an_error_at_once() {
        let found = judge(Rules::Aware, &[("  ", Finish::Stop)]).unwrap();
        assert_eq!((found.severity, found.count), (Severity::Error, 1));
        let found = judge(Rules::Aware, &[("...", Finish::Length)]).unwrap();
        assert_eq!(found.reason, Some("length"));
        assert!(judge(Rules::Aware, &[("", Finish::ToolCalls)]).is_none());
        assert!(judge(Rules::Aware, &[("", Finish::Unknown); 2]).is_none());
        let found = judge(Rules::Aware, &[("", Finish::Unknown); 3]).unwrap();
        assert_eq!((found.severity, found.count), (Severity::Warning, 3));
    }

    #[test]
    fn a9_short_answers_that_say_something_are_quiet() {
        let short = [
            ("42", Finish::Stop),
            ("OK", Finish::Stop),
            ("B", Finish::Stop),
        ];
        assert!(judge(Rules::Aware, &short).is_none());
        assert!(judge(Rules::Aware, &[("?!", Finish::Stop); 3]).is_some());
        let again = judge(Rules::Aware, &[("OK", Finish::Stop); 3]).unwrap();
        assert_eq!(again.reason, Some("same_text"));
    }

    #[test]
    fn a9_missing_content_is_not_empty() {
        let mut bench = Bench::default();
        bench.reply(None, Finish::Stop);
        let judged = bench.last_reply(&detector(Rules::Aware));
        assert_eq!(judged, Judgement::NotAssessed(Lack::NoText));
        bench.run.seen_texts = true;
        assert_eq!(bench.last_reply(&detector(Rules::Aware)), Judgement::Quiet);
    }

    #[test]
    fn a_run_that_repeats_its_last_answer_is_the_same_answer() {
        let mut bench = Bench::default();
        bench.reply(Some(text("")), Finish::Stop);
        let mut run = bench.blank_reply(Some(text("")), Finish::Unknown);
        run.of_run = true;
        bench.push_reply(run);
        assert_eq!(bench.last_reply(&detector(Rules::Aware)), Judgement::Quiet);
        // That the turn ended with it is news where the answer itself did not say so; it is counted once.
        let mut silent = Bench::default();
        for at in 0..3u32 {
            silent.reply(Some(text("")), Finish::Unknown);
            run.span = super::super::testing::span(950 + at);
            silent.push_reply(run);
            let judged = silent.last_reply(&detector(Rules::Aware));
            if at == 0 {
                let found = finding(judged).unwrap();
                assert_eq!((found.severity, found.count), (Severity::Error, 1));
            }
        }
        let mut alone = Bench::default();
        run.span = super::super::testing::span(900);
        alone.push_reply(run);
        assert!(finding(alone.last_reply(&detector(Rules::Aware))).is_some());
    }
}
