//! Lanes out of one line of text, so that a case of a test is a line.
//!
//! Tokens are calls, a second apart. A name is lower-case letters (the tool) and then a digit (a near-equal
//! variant) or a capital (another call altogether). Signs behind it: `!` failed with an error of its
//! tool (`!7`: of class 7; `#9`: about names 9), `=x` answered x, `?` nothing known, `-` refused, `%` a failure that is an answer,
//! `<f` reads file f, `>f` changes file f, `&` same try as the call before, `*` poll, `^` answer is not final,
//! `_` does nothing, `~` waits, `/60` a minute after the call before, `(r)` role. `|` is a user turn.

use crate::lanes::{
    At, Call, Cost, Lane, Ledger, More, Names, Order, Reply, RunFacts, RunOutcome, Spent, View,
    Wanted,
};
use crate::model::{
    Answer, Arguments, Claim, Failure, Finding, Finish, Fit, Ignored, Name, Outcome, Role, SpanId,
    Targets, TextFacts, Timestamp, ToolIdentity, TraceId,
};

use super::repeats::{hash, mix};
use super::{Detector, Judgement, Table};

/// Everything a view is made of.
#[derive(Debug, Default)]
pub(super) struct Bench {
    pub(super) lane: Lane,
    pub(super) run: RunFacts,
    pub(super) ledger: Ledger,
    pub(super) names: Names,
    now: u64,
    arrival: u32,
    turn: u16,
}

pub(super) const SECOND: u64 = 1_000_000_000;
const CAPACITY: usize = 64;

pub(super) fn trace() -> TraceId {
    TraceId::from_slice(&[1; 16]).expect("not zero")
}

pub(super) fn span(number: u32) -> SpanId {
    let mut bytes = [7; 8];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    SpanId::from_slice(&bytes).expect("not zero")
}

impl Bench {
    /// Builds the lane that a line describes.
    pub(super) fn of(line: &str) -> Self {
        let mut bench = Self::default();
        bench.run.seen_arguments = true;
        bench.run.seen_results = true;
        for token in line.split_whitespace() {
            match token {
                "|" => bench.turn += 1,
                token => bench.token(token),
            }
        }
        bench
    }

    fn token(&mut self, token: &str) {
        let name_end = token
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(token.len());
        let (name, signs) = token.split_at(name_end);
        let tool: String = name.chars().take_while(char::is_ascii_lowercase).collect();
        let mut call = self.blank(&tool, name);
        let mut signs = signs.chars().peekable();
        let mut step = SECOND;
        while let Some(sign) = signs.next() {
            let mut value = String::new();
            while signs
                .peek()
                .is_some_and(|c| c.is_ascii_alphanumeric() || *c == ',')
            {
                value.extend(signs.next());
            }
            match sign {
                '!' => {
                    let class = value.parse().unwrap_or(hash(tool.as_bytes()));
                    call.outcome = failed(class, Some(1), false);
                }
                '#' => {
                    if let Outcome::Failed(failure) = &mut call.outcome {
                        failure.names = value.parse().expect("a number");
                    }
                }
                '%' => call.outcome = failed(0, Some(1), true),
                '-' => call.outcome = Outcome::Refused,
                '?' => {
                    call.outcome = Outcome::Unknown;
                    call.answer = Answer::default();
                }
                '=' => call.answer = answer(&value),
                '<' => call.reads.files[0] = hash(value.as_bytes()),
                '>' => call.changes.files[0] = hash(value.as_bytes()),
                '&' => {
                    step = 0;
                    let calls = self.lane.calls();
                    call.asked_by = calls.last().map_or(1, |last| last.asked_by);
                }
                '*' => call.poll = true,
                '^' => call.answer.pending = true,
                '_' => call.void = true,
                '~' => call.waits = true,
                '/' => step = value.parse::<u64>().expect("seconds") * SECOND,
                '(' => {
                    call.role = role(&value);
                    signs.next();
                }
                other => panic!("no sign: {other}"),
            }
        }
        self.now += step;
        call.start = Timestamp::from_nanos(self.now);
        call.end = Timestamp::from_nanos(self.now + SECOND / 10);
        self.push(call);
    }

    /// A successful look of one tool, to be changed and pushed.
    pub(super) fn blank(&mut self, tool: &str, name: &str) -> Call {
        let mut common = [0u8; 32];
        let far = name.chars().any(|c| c.is_ascii_uppercase());
        let seed = hash(if far { name } else { tool }.as_bytes());
        common[0] = 1;
        for bit in 0..8u64 {
            set(&mut common, 4, mix(seed, bit));
            set(&mut common, 18, mix(seed, bit));
        }
        set(&mut common, 4, hash(name.as_bytes()));
        set(&mut common, 18, mix(hash(name.as_bytes()), 1));
        Call {
            order: Order::default(),
            trace: trace(),
            span: span(self.arrival + 1),
            parent: None,
            scope: 0,
            audience: 0,
            call_id: None,
            step: self.arrival,
            start: Timestamp::from_nanos(self.now),
            end: Timestamp::from_nanos(self.now),
            tool: self.names.id(&Name::from(tool)),
            key: Some(hash(name.as_bytes())),
            exact: Some(hash(name.as_bytes())),
            answer: answer(name),
            outcome: Outcome::Succeeded,
            role: Role::Read,
            reads: Targets::default(),
            changes: Targets::default(),
            arguments: Arguments::Valid,
            asked_by: self.arrival + 1,
            turn: self.turn,
            poll: false,
            void: false,
            waits: false,
            lane_unknown: false,
            sketch: common,
            ignored: Ignored::default(),
            more: More::default(),
            fired: 0,
        }
    }

    /// Puts a call into the lane and the run's outcomes.
    pub(super) fn push(&mut self, call: Call) {
        self.push_paid(call, Cost::None);
    }

    /// As [`Bench::push`], of a call that cost something.
    pub(super) fn push_paid(&mut self, mut call: Call, cost: Cost) {
        call.order = Order {
            end: call.end,
            start: call.start,
            height: 0,
            arrival: self.arrival,
        };
        self.arrival += 1;
        self.run.calls += 1;
        self.run.outcomes.push(RunOutcome {
            order: call.order,
            outcome: call.outcome,
            key: call.key.unwrap_or(0),
        });
        let spent = Spent::new(call.order, call.trace, call.start, true, cost);
        self.ledger.meter.add(spent);
        self.lane.meter.add(spent);
        self.run.turns.of_mut(call.start).unwrap().add(spent);
        self.run.latest_end = self.run.latest_end.max(call.end);
        self.lane.insert_call(call, CAPACITY);
    }

    /// Puts a model answer of now into lane and ledger.
    pub(super) fn reply(&mut self, text: Option<TextFacts>, finish: Finish) -> &mut Self {
        self.now += SECOND;
        let reply = self.blank_reply(text, finish);
        self.push_reply(reply);
        self
    }

    /// A model answer of now, to be changed and pushed.
    pub(super) fn blank_reply(&self, text: Option<TextFacts>, finish: Finish) -> Reply {
        Reply {
            order: Order::default(),
            trace: trace(),
            span: span(self.arrival + 1),
            parent: None,
            step: self.arrival,
            start: Timestamp::from_nanos(self.now),
            end: Timestamp::from_nanos(self.now),
            resource: 0,
            audience: 0,
            text,
            reasoning: None,
            finish,
            asks_for_calls: finish == Finish::ToolCalls,
            failed: false,
            of_run: false,
            turn: self.turn,
        }
    }

    /// Puts a model answer of now into the lane that asks for calls of these tools; `with` changes each.
    pub(super) fn asks(&mut self, tools: &[&str], with: impl Fn(&mut Wanted, &str)) {
        self.reply(None, Finish::ToolCalls);
        let Some(reply) = self.lane.replies().last().copied() else {
            return;
        };
        for tool in tools {
            let mut want = Wanted {
                order: reply.order,
                by: reply.step + 1,
                member: reply.member(),
                call_id: None,
                tool: self.names.id(&Name::from(*tool)),
                identity: ToolIdentity::default(),
                key: None,
                arguments: Arguments::Valid,
                fit: Fit::Unassessed,
                breach: None,
                silent: false,
                executes: true,
                ran: false,
                met: None,
                told: false,
                given: None,
            };
            with(&mut want, tool);
            self.run.asks.ask(want);
        }
    }

    /// As the engine does when all that was asked for has been told of.
    pub(super) fn all_told(&mut self) {
        let wants = self.run.asks.wants_mut().iter_mut();
        wants.for_each(|want| want.told = true);
    }

    /// Judges the lane as that of a run that is over.
    pub(super) fn at_end(&self, detector: &dyn Detector) -> Judgement {
        let last = self.lane.replies().len().saturating_sub(1);
        detector.judge_end(&self.view(At::Reply(last)))
    }

    /// Puts an answer into lane and ledger.
    pub(super) fn push_reply(&mut self, mut reply: Reply) {
        reply.order = Order {
            end: reply.end,
            start: reply.start,
            height: 0,
            arrival: self.arrival,
        };
        self.arrival += 1;
        self.lane.insert_reply(reply);
        self.ledger.add_reply(reply);
    }

    pub(super) fn view(&self, at: At) -> View<'_> {
        View {
            at,
            lane: &self.lane,
            run: &self.run,
            ledger: &self.ledger,
            names: &self.names,
            reach: Table::WINDOW_MAX,
        }
    }

    /// Judges the call at an index.
    pub(super) fn at(&self, detector: &dyn Detector, index: usize) -> Judgement {
        detector.judge(&self.view(At::Call(index)))
    }

    /// Judges every call: the indices of those found, with their findings.
    pub(super) fn found(&self, detector: &dyn Detector) -> Vec<(usize, Finding)> {
        let all = 0..self.lane.calls().len();
        all.filter_map(|index| Some((index, finding(self.at(detector, index))?)))
            .collect()
    }

    /// Judges the newest answer.
    pub(super) fn last_reply(&self, detector: &dyn Detector) -> Judgement {
        detector.judge(&self.view(At::Reply(self.lane.replies().len() - 1)))
    }
}

pub(super) fn finding(judgement: Judgement) -> Option<Finding> {
    match judgement {
        Judgement::Found(finding) => {
            check(&finding);
            Some(*finding)
        }
        _ => None,
    }
}

/// What holds of every finding.
fn check(finding: &Finding) {
    assert!(!finding.members.is_empty() && finding.members.len() <= Finding::MEMBERS_MAX);
    assert!(
        finding.message.len() <= 240 && !finding.message.is_empty(),
        "{finding:?}"
    );
    assert!(finding.count >= 1 && finding.rule >= 1 && finding.facts.len() <= 12);
    assert!(finding.shape.is_sorted());
    let family = finding.anomaly.family_rank().is_some();
    assert!(family || finding.shape.is_empty());
}

/// Indices at which a detector fires on a line.
pub(super) fn fires(detector: &dyn Detector, line: &str) -> Vec<usize> {
    let found = Bench::of(line).found(detector);
    found.into_iter().map(|(index, _)| index).collect()
}

/// The finding on the last call of a line.
pub(super) fn last(detector: &dyn Detector, line: &str) -> Option<Finding> {
    let bench = Bench::of(line);
    finding(bench.at(detector, bench.lane.calls().len() - 1))
}

/// What a text looks like, roughly.
pub(super) fn text(words: &str) -> TextFacts {
    let shown = words.trim();
    TextFacts {
        hash: hash(words.as_bytes()),
        chars: u32::try_from(shown.chars().count()).expect("short"),
        visible: shown.chars().any(|c| c != '.'),
        meaningful: shown.chars().any(char::is_alphanumeric),
        ..TextFacts::default()
    }
}

/// A text with a claim.
pub(super) fn claim(words: &str, claim: Claim) -> TextFacts {
    TextFacts {
        claim,
        ..text(words)
    }
}

fn failed(class: u64, exit_code: Option<i32>, is_answer: bool) -> Outcome {
    Outcome::Failed(Failure {
        exit_code,
        class,
        names: 0,
        is_answer,
        soft: false,
        vague: false,
    })
}

fn answer(text: &str) -> Answer {
    let raw = hash(text.as_bytes());
    // `t1` and `t2` differ in a volatile token only.
    let neutral = text.trim_end_matches(|c: char| c.is_ascii_digit());
    Answer {
        known: true,
        raw,
        digest: if text.starts_with('t') {
            hash(neutral.as_bytes())
        } else {
            raw
        },
        canonical: raw,
        acknowledges: text == "ok",
        informs: text.len() >= 12,
        pending: false,
    }
}

fn role(name: &str) -> Role {
    match name {
        "edit" => Role::Edit,
        "verify" => Role::Verify,
        "shell" => Role::Shell,
        "delegate" => Role::Delegate,
        "other" => Role::Other,
        other => panic!("no role: {other}"),
    }
}

fn set(sketch: &mut [u8; 32], from: usize, bit: u64) {
    let bit = usize::try_from(bit % 112).expect("small");
    sketch[from + bit / 8] |= 1 << (bit % 8);
}
