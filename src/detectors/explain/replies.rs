//! Detectors of answers: what the text holds, and where a claim stands.

use crate::model::{Claim, Finish};

use super::super::freshness::{Standing, weigh};
use super::super::stutter::{BLOCK_COPIES, MAX_DISTINCT, MIN_TOKENS};
use super::Asked;

pub(super) fn empty_response(asked: &Asked<'_>) -> Vec<String> {
    let settings = &asked.settings.empty_response;
    let Some(reply) = asked.view.reply() else {
        return Vec::new();
    };
    let Some(text) = &reply.text else {
        return vec!["the text was not captured; that is not the same as empty".to_owned()];
    };
    if reply.asks_for_calls && !asked.source() {
        return vec!["it asks for tools: the call is the answer".to_owned()];
    }
    let mut said = vec![format!(
        "{} characters, max_chars is {}",
        text.chars, settings.max_chars
    )];
    if asked.source() {
        return said;
    }
    if !text.visible {
        said.push("no visible character".to_owned());
        if !matches!(reply.finish, Finish::Stop | Finish::Length) && !reply.of_run {
            said.push(format!(
                "nothing says that it ended its turn: {} in a row are needed",
                settings.threshold
            ));
        }
    } else if text.chars > settings.max_chars {
        said.push("an answer of this length is not empty".to_owned());
    } else if text.meaningful {
        said.push(
            "short, but it holds a letter, a digit, an emoji or brackets: an answer".to_owned(),
        );
    } else {
        said.push(format!(
            "short and without words: {} in a row are needed",
            settings.threshold
        ));
    }
    said
}

pub(super) fn stutter(asked: &Asked<'_>) -> Vec<String> {
    let settings = &asked.settings.stutter;
    let Some(reply) = asked.view.reply() else {
        return Vec::new();
    };
    let Some(text) = &reply.text else {
        return vec!["the text was not captured".to_owned()];
    };
    let measured = &text.repetition;
    if asked.source() {
        return vec![format!(
            "entropy {:.2} bits, {} or less fires",
            measured.entropy_bits, settings.max_entropy
        )];
    }
    vec![
        format!(
            "{} tokens (judged from {}), {:.0}% of the 4-grams are distinct (fires at {:.0}% or less)",
            measured.tokens,
            settings.min_tokens.unwrap_or(MIN_TOKENS),
            measured.distinct_ratio * 100.0,
            MAX_DISTINCT * 100.0
        ),
        format!(
            "a passage back to back: {} of {BLOCK_COPIES} times",
            measured.block_copies
        ),
    ]
}

pub(super) fn premature_victory(asked: &Asked<'_>) -> Vec<String> {
    let Some(reply) = asked.view.reply() else {
        return Vec::new();
    };
    let Some(text) = &reply.text else {
        return vec!["the text was not captured: a claim could not be seen".to_owned()];
    };
    if asked.source() {
        return vec!["the source knows writers and runners by exact name; its last edit and pass are compared".to_owned()];
    }
    let no_claim = match text.claim {
        _ if reply.asks_for_calls => Some("it asks for tools: work goes on, nothing is claimed"),
        _ if reply.failed => Some("the request or the run failed: no claim"),
        _ if text.honest_gap => Some("it says openly what was not checked: no claim"),
        Claim::None => Some("the text claims neither completion nor passing checks"),
        Claim::Done | Claim::ChecksPassed => None,
    };
    if let Some(why) = no_claim {
        return vec![why.to_owned()];
    }
    let of_checks = text.claim == Claim::ChecksPassed;
    let tolerance = asked.settings.premature_victory.clock_tolerance;
    let evidence = weigh(asked.view.ledger, reply, of_checks, tolerance);
    let mut said = vec![match evidence.edit {
        Some(edit) => format!("last edit of sources: step {}", edit.step),
        None => "no edit of sources was seen: there is nothing to prove".to_owned(),
    }];
    said.push(match evidence.last {
        Some(last) => format!(
            "last tests: `{}` at step {}, {:?}",
            last.runner, last.step, last.verdict
        )
        .to_lowercase(),
        None => "no tests were seen".to_owned(),
    });
    said.push(match evidence.standing {
        Standing::Proved => "the claim is proved, or needs no proof".to_owned(),
        Standing::Unknown => "the last check says nothing about how it ended".to_owned(),
        Standing::Gap(gap) => format!("the claim is not proved: {}", gap.word()),
    });
    if evidence.weak {
        said.push(
            "the program, a build or a linter ran after the edit: that lowers the severity"
                .to_owned(),
        );
    }
    said
}
