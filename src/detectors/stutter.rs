//! `stutter`: text that repeats itself.
//!
//! - Invariant: /1 a text of at least `min_tokens` tokens has at most 0.2 distinct 4-grams to all; /2 one block of 3
//!   to 60 tokens stands six times back to back; /3 one text of at least 8 words is given in three successive
//!   answers with no call between (A10). Answers and reasoning are judged each by itself.
//! - Ignores: what the measures leave out (fences, tables, lines that look alike by structure), the span of a run
//!   that only repeats its last answer.
//! - Source rule (failure taxonomy sentinel): entropy of the 4-grams is at most `max_entropy` bits; no text
//!   without a 4-gram.
//! - Cost: a few comparisons of numbers that came with the text.

use smallvec::SmallVec;

use crate::lanes::{Reply, View};
use crate::model::{
    AnomalyType, Confidence, Fact, Finding, Lack, Member, Name, Severity, TextFacts,
};

use super::ready::Ready;
use super::repeats::hash;
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `stutter`.
    pub struct Config (enabled: true) {
        /// Tokens of an n-gram; texts are measured with 4.
        ngram: u32 = 4,
        /// Entropy in bits up to which it fires (`rules: source`).
        max_entropy: f64 = 2.1,
        /// Shortest text judged, in tokens; without it 60, and none for `rules: source`.
        min_tokens: Option<u32> = None,
    }
}

/// Shortest text judged by the aware rule.
pub(super) const MIN_TOKENS: u32 = 60;
/// Distinct to all 4-grams up to which a text stutters; the least among 2,584 real texts was 0.403.
pub(super) const MAX_DISTINCT: f64 = 0.2;
/// Copies of one block back to back.
pub(super) const BLOCK_COPIES: u32 = 6;
/// Answers with one text.
const SAME_TEXTS: usize = 3;
/// Shortest text that must not be given again, in words.
const SAME_TEXT_WORDS: u32 = 8;

/// The detector.
#[derive(Debug)]
pub(super) struct Stutter {
    max_entropy: f64,
    min_tokens: Option<u32>,
    ready: Ready,
}

impl Stutter {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            max_entropy: config.max_entropy,
            min_tokens: config.min_tokens,
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, judged: &Reply, text: &TextFacts) -> Judgement {
        let measured = &text.repetition;
        if measured.source_ngrams == 0
            || measured.entropy_bits > self.max_entropy
            || text.words < self.min_tokens.unwrap_or(0)
        {
            return Judgement::Quiet;
        }
        let mut finding = self.finding(&[judged.member()], 1, text, "text");
        finding.message = wording::message(format!(
            "the answer's 4-grams carry {:.2} bits, at most {} are expected of a stutter",
            measured.entropy_bits, self.max_entropy
        ));
        Judgement::Found(Box::new(finding))
    }

    fn aware(&self, view: &View<'_>, judged: &Reply) -> Judgement {
        let parts = [(judged.text, "text"), (judged.reasoning, "reasoning")];
        for (text, part) in parts {
            let Some(text) = text else { continue };
            if let Some(finding) = self.within(judged, &text, part) {
                return Judgement::Found(Box::new(finding));
            }
        }
        match judged.text.and_then(|text| self.again(view, judged, &text)) {
            Some(finding) => Judgement::Found(Box::new(finding)),
            None => Judgement::Quiet,
        }
    }

    fn within(&self, judged: &Reply, text: &TextFacts, part: &'static str) -> Option<Finding> {
        let measured = &text.repetition;
        let long = measured.tokens >= self.min_tokens.unwrap_or(MIN_TOKENS);
        if long && measured.distinct_ratio <= MAX_DISTINCT {
            let mut finding = self.finding(&[judged.member()], 1, text, part);
            finding.confidence = Confidence::Likely;
            finding.reason = Some("few_phrases");
            finding.message = wording::message(format!(
                "the {part} of {} tokens is made of few phrases: {:.0}% of its 4-grams are distinct",
                measured.tokens,
                measured.distinct_ratio * 100.0
            ));
            return Some(finding);
        }
        if measured.block_copies < BLOCK_COPIES {
            return None;
        }
        let mut finding = self.finding(&[judged.member()], 2, text, part);
        finding.confidence = Confidence::Likely;
        finding.reason = Some("block");
        finding.count = measured.block_copies;
        finding.message = wording::message(format!(
            "the {part} holds one passage {} times back to back",
            measured.block_copies
        ));
        Some(finding)
    }

    /// One text in successive answers, with no call between.
    fn again(&self, view: &View<'_>, judged: &Reply, text: &TextFacts) -> Option<Finding> {
        if text.words < SAME_TEXT_WORDS || judged.asks_for_calls {
            return None;
        }
        let mut row: SmallVec<[&Reply; 8]> = SmallVec::new();
        for reply in view.replies().iter().rev().filter(|reply| !reply.of_run) {
            let same = reply.text.is_some_and(|other| other.hash == text.hash);
            if !same || reply.turn != judged.turn || reply.asks_for_calls {
                break;
            }
            row.push(reply);
        }
        let first = row.last()?;
        let calls = view.lane.calls();
        let since = calls.partition_point(|call| call.order <= first.order);
        let between = calls
            .get(since)
            .is_some_and(|call| call.order < judged.order);
        if row.len() < SAME_TEXTS || between {
            return None;
        }
        let members: SmallVec<[Member; 8]> = row.iter().rev().map(|reply| reply.member()).collect();
        let mut finding = self.finding(&members, 3, text, "text");
        finding.reason = Some("same_text");
        finding.count = u32::try_from(row.len()).unwrap_or(u32::MAX);
        finding.message = wording::message(format!(
            "the same text of {} words was given in {} successive answers",
            text.words,
            row.len()
        ));
        Some(finding)
    }

    fn finding(
        &self,
        members: &[Member],
        rule: u8,
        text: &TextFacts,
        part: &'static str,
    ) -> Finding {
        let measured = &text.repetition;
        Finding {
            anomaly: AnomalyType::Stutter,
            rule,
            severity: self.ready.severity(Severity::Warning),
            confidence: Confidence::Exact,
            reason: None,
            members: SmallVec::from_slice(members),
            count: 1,
            tool: None,
            evidence_key: hash(b"stutter"),
            shape: SmallVec::new(),
            facts: vec![
                ("part", Fact::Class(Name::from(part))),
                ("tokens", Fact::Int(measured.tokens.into())),
                ("distinct_ratio", Fact::Float(measured.distinct_ratio)),
                ("block_copies", Fact::Int(measured.block_copies.into())),
                ("entropy_bits", Fact::Float(measured.entropy_bits)),
            ],
            message: String::new(),
        }
    }
}

impl Detector for Stutter {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::Stutter
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.reply() else {
            return Judgement::Quiet;
        };
        match (self.ready.rules, &judged.text) {
            (Rules::Source, Some(text)) => self.source(judged, text),
            (Rules::Aware, text) if text.is_some() || judged.reasoning.is_some() => {
                let told = |reply: &Reply| {
                    reply.span != judged.span && reply.text.map(|t| t.hash) == text.map(|t| t.hash)
                };
                if judged.of_run && view.replies().iter().any(told) {
                    return Judgement::Quiet;
                }
                self.aware(view, judged)
            }
            _ if judged.asks_for_calls || judged.of_run || view.run.seen_texts => Judgement::Quiet,
            _ => Judgement::NotAssessed(Lack::NoText),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding, text};
    use super::*;
    use crate::model::{Finish, Repetition};

    fn detector(rules: Rules) -> Stutter {
        Stutter::new(&Config::default(), rules)
    }

    fn measured(words: &str, repetition: Repetition) -> TextFacts {
        TextFacts {
            repetition,
            words: 20,
            ..text(words)
        }
    }

    fn judge(rules: Rules, facts: &[TextFacts]) -> Option<Finding> {
        let mut bench = Bench::default();
        for facts in facts {
            bench.reply(Some(*facts), Finish::Stop);
        }
        finding(bench.last_reply(&detector(rules)))
    }

    #[test]
    fn source_entropy() {
        let bits = |entropy_bits, source_ngrams| {
            let repetition = Repetition {
                entropy_bits,
                source_ngrams,
                ..Repetition::default()
            };
            judge(Rules::Source, &[measured("x", repetition)])
        };
        assert!(bits(2.1, 5).is_some());
        assert!(bits(2.11, 5).is_none());
        assert!(bits(0.0, 0).is_none());
    }

    #[test]
    fn a10_few_phrases_and_blocks() {
        let aware = |tokens, distinct_ratio, block_copies| {
            let repetition = Repetition {
                tokens,
                distinct_ratio,
                block_copies,
                ..Repetition::default()
            };
            judge(Rules::Aware, &[measured("x", repetition)]).map(|finding| finding.rule)
        };
        assert_eq!(aware(60, 0.2, 1), Some(1));
        assert_eq!(aware(59, 0.2, 1), None);
        assert_eq!(aware(60, 0.21, 5), None);
        assert_eq!(aware(20, 1.0, 6), Some(2));
    }

    #[test]
    fn a10_the_same_text_in_three_answers() {
        let clean = Repetition {
            distinct_ratio: 1.0,
            ..Repetition::default()
        };
        let again = measured("I will look at it once more", clean);
        assert_eq!(
            judge(Rules::Aware, &[again; 3]).unwrap().reason,
            Some("same_text")
        );
        assert_eq!(judge(Rules::Aware, &[again; 2]), None);
        let short = TextFacts { words: 7, ..again };
        assert_eq!(judge(Rules::Aware, &[short; 3]), None);
        let mut bench = Bench::default();
        for _ in 0..3 {
            bench.reply(Some(again), Finish::Stop);
            let mut call = bench.blank("a", "a");
            call.end = bench.blank_reply(None, Finish::Stop).end;
            bench.push(call);
        }
        bench.reply(Some(again), Finish::Stop);
        assert_eq!(finding(bench.last_reply(&detector(Rules::Aware))), None);
    }
}
