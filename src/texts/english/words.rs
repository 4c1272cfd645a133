//! The words that carry meaning for claims, and the clauses of a sentence.

use std::sync::LazyLock;

use hashbrown::HashMap;
use smallvec::SmallVec;

/// Kinds of words, as bits: a word may be of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// Names checks: `tests`, `suite`, `ci`.
    Check = 1,
    /// Says that checks passed: `pass`, `green`.
    Pass = 1 << 1,
    /// Says that work is complete: `done`, `fixed`.
    Finished = 1 << 2,
    /// Something that work is done on: `feature`, `bug`, `everything`.
    Work = 1 << 3,
    /// Turns a clause around.
    Negation = 1 << 4,
    /// Puts a condition on all that follows.
    Condition = 1 << 5,
    /// Speaks of what is planned, wished, guessed or asked for.
    Plan = 1 << 6,
    /// Gives somebody else's words.
    Hearsay = 1 << 7,
    /// A command when it begins a clause.
    Imperative = 1 << 8,
    /// Only a part.
    Partial = 1 << 9,
    /// A number.
    Number = 1 << 10,
    /// The number nought.
    Zero = 1 << 11,
    /// Something bad, whose absence is good: `errors`, `failures`.
    Bad = 1 << 12,
    /// Says by itself that something is open: `unverified`, `blocked`.
    Open = 1 << 13,
    /// What an honest text says was not done: `run`, `verify`, `finish`.
    Acted = 1 << 14,
    /// What somebody was not able to do.
    Attempted = 1 << 15,
    /// Says that checks were made to run.
    Ran = 1 << 16,
    /// Inability.
    Unable = 1 << 17,
    /// A form of to be, or to have been.
    Be = 1 << 18,
    /// Strengthens or dates, and is stepped over.
    Adverb = 1 << 19,
    /// Makes a sentence worth looking at.
    Trigger = 1 << 20,
}

/// Words by kind.
const WORDS: &[(Kind, &str)] = &[
    (
        Kind::Check,
        "test tests testsuite suite suites spec specs checks ci pipeline pytest jest vitest mocha \
         rspec unittest unittests ctest tox e2e subtests assertions testcases regressions-suite",
    ),
    (
        Kind::Pass,
        "pass passes passed passing green succeed succeeds succeeded ok successful clean",
    ),
    (
        Kind::Finished,
        "done complete completed finished fixed resolved solved implemented",
    ),
    (
        Kind::Work,
        "task tasks work feature features fix fixes implementation migration change changes \
         refactoring refactor job update upgrade bug bugs issue issues problem problems everything \
         step steps setup installation integration ticket typo typos all module function endpoint \
         api page script build conversion port cleanup it code project app application items \
         requirements",
    ),
    (
        Kind::Negation,
        "not no never none nothing nobody neither nor without cannot unable fail fails failed \
         failing hardly barely zero cant dont doesnt isnt arent wasnt werent havent hasnt couldnt",
    ),
    (
        Kind::Condition,
        "if once unless whenever assuming provided when until whether in-case as-soon-as",
    ),
    (
        Kind::Plan,
        "will should would could may might must shall going need needs needed want wants plan plans \
         planning planned try tries trying attempt attempts attempting ensure ensures ensuring \
         expect expects hope hopefully probably likely presumably perhaps maybe seems seem appear \
         appears believe think guess suspect doubt unsure unclear unlikely aims aimed believes thinks \
         suspects assumes theory theoretically ideally supposedly allegedly apparently intended supposed aim goal wish let lets let's require \
         requires required recommend suggest tomorrow next soon eventually asked asks request \
         requested how what where which why who",
    ),
    (
        Kind::Hearsay,
        "said says claim claims claimed states stated reported according mentions mentioned told reported-by \
         definition acceptance criteria example imagine suppose",
    ),
    (
        Kind::Imperative,
        "run rerun verify check confirm ensure make execute validate see complete finish fix \
         implement resolve continue wait keep",
    ),
    (
        Kind::Partial,
        "almost nearly mostly most some partially partly half few many several",
    ),
    (
        Kind::Number,
        "one two three four five six seven eight nine ten eleven twelve both zero",
    ),
    (Kind::Zero, "0 zero no"),
    (
        Kind::Bad,
        "error errors failure failures failing failed issue issues problem problems regression \
         regressions warning warnings longer further more crash crashes exception exceptions \
         conflicts leaks breakage surprises",
    ),
    (
        Kind::Open,
        "unverified untested incomplete unresolved blocked blocker reverted unfinished \
         unimplemented impossible",
    ),
    (
        Kind::Acted,
        "run ran rerun test tested verify verified execute executed check checked confirm confirmed \
         validate validated fix fixed finish finished complete completed implement implemented \
         resolve resolved solve solved done finished running testing verifying executing checking",
    ),
    (
        Kind::Attempted,
        "get make install build reproduce access proceed continue start open download connect reach \
         compile determine locate find work pass",
    ),
    (
        Kind::Ran,
        "run ran rerun executed started performed verified tested checked",
    ),
    (Kind::Unable, "unable cannot couldn't can't couldnt cant"),
    (
        Kind::Be,
        "is are was were been be being has have had i've we've it's that's everything's they're",
    ),
    (
        Kind::Adverb,
        "now just also all both fully successfully already finally still again locally cleanly \
         completely entirely here been correctly then so and hereby currently together",
    ),
    (
        Kind::Trigger,
        "works working work successfully ready successful fails failing failed unable not can't \
         couldn't cannot didn't haven't wasn't verified tested unverified untested blocked reverted \
         incomplete impossible longer clean set met wrapped good care ran skipped revert broken \
         correctly properly place accomplished gave rolled gone made reverting remains remain",
    ),
];

static KINDS: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut kinds: HashMap<&'static str, u32> = HashMap::new();
    for (kind, words) in WORDS {
        for word in words.split_whitespace() {
            *kinds.entry(word).or_default() |= *kind as u32;
        }
    }
    kinds
});

/// A word and what kinds it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) kinds: u32,
}

impl Word<'_> {
    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kinds & kind as u32 != 0
    }

    pub(super) fn among(&self, words: &[&str]) -> bool {
        words.contains(&self.text)
    }
}

/// The words between two clause marks.
pub(super) type Clause<'a> = SmallVec<[Word<'a>; 16]>;

/// The kinds one of which a sentence must touch to say anything.
pub(super) const TOUCHES: u32 = Kind::Check as u32
    | Kind::Pass as u32
    | Kind::Finished as u32
    | Kind::Trigger as u32
    | Kind::Open as u32;

/// For each first letter, the lengths (as bits) of the words that touch: most words are told by these.
/// What stands before an apostrophe counts as a word of its own.
static LENGTHS: LazyLock<[u32; 26]> = LazyLock::new(|| {
    let mut lengths = [0; 26];
    for (kind, words) in WORDS {
        if *kind as u32 & TOUCHES == 0 {
            continue;
        }
        for word in words.split_whitespace() {
            let run = word.split('\'').next().unwrap_or(word);
            if let (Some(first), Ok(bits)) = (word.bytes().next(), u32::try_from(run.len()))
                && let Some(known) = lengths.get_mut(usize::from(first.wrapping_sub(b'a')))
            {
                *known |= 1u32.checked_shl(bits).unwrap_or(0);
            }
        }
    }
    lengths
});

/// Whether a sentence in lower case could hold a word that makes it worth taking apart. Looks at runs of
/// letters and digits, of which every such word is one, or begins with one that an apostrophe follows.
pub(super) fn touches(sentence: &str) -> bool {
    let bytes = sentence.as_bytes();
    let lengths = &*LENGTHS;
    let mut start = 0;
    while start < bytes.len() {
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let first = rest.first().map_or(0, |byte| byte.wrapping_sub(b'a'));
        let known = lengths.get(usize::from(first)).copied().unwrap_or(0);
        if length < 32 && known & (1 << length) != 0 {
            let apostrophe = rest.get(length) == Some(&b'\'');
            let word = sentence.get(start..start + length).unwrap_or_default();
            let kinds = KINDS.get(word).copied().unwrap_or(0);
            if apostrophe || kinds & TOUCHES != 0 {
                return true;
            }
        }
        start += length + 1;
    }
    false
}

/// The words of a sentence, clause by clause. Clauses end at commas, colons, dashes and brackets, and
/// before `but`, `however`, `although`, `though`, `yet`, `except`.
pub(super) fn clauses(sentence: &str) -> SmallVec<[Clause<'_>; 4]> {
    let mut all: SmallVec<[Clause<'_>; 4]> = SmallVec::new();
    let mut clause = Clause::new();
    let mut rest = sentence;
    while let Some((part, after)) = next_part(rest) {
        rest = after;
        let text = bare(part);
        let splits = matches!(
            text,
            "but" | "however" | "although" | "though" | "yet" | "except"
        );
        // "All but two": a part, no other clause.
        let all_but = text == "but" && clause.last().is_some_and(|word| word.text == "all");
        if all_but {
            clause.push(Word {
                text,
                kinds: Kind::Partial as u32,
            });
            continue;
        }
        if splits && !clause.is_empty() {
            all.push(std::mem::take(&mut clause));
        }
        if !text.is_empty() && text != "but" {
            clause.push(Word {
                text,
                kinds: kinds(text),
            });
        }
        let dash = text.is_empty() && part.trim() == "-";
        let ends = part.ends_with([
            ',', ':', '(', ')', '\u{2014}', '\u{2013}', '\u{ff0c}', '\u{ff1a}', '\u{ff08}',
            '\u{ff09}', '\u{3001}',
        ]) || dash;
        // `12/12` and `1,204` are numbers.
        let number =
            part.len() > 1 && part.ends_with(',') && !part.ends_with(", ") && text.is_empty();
        if ends && !number && !clause.is_empty() {
            all.push(std::mem::take(&mut clause));
        }
    }
    if !clause.is_empty() {
        all.push(clause);
    }
    all
}

/// The text up to and with the next mark between words, and what follows.
fn next_part(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b',' | b':' | b'(' | b')' | b'\t' | b'/' => {
                return text.split_at_checked(at + 1);
            }
            // The wide comma, colon and brackets, and the comma of lists.
            0xef if matches!(
                bytes.get(at + 1..at + 3),
                Some([0xbc, 0x8c | 0x9a | 0x88 | 0x89])
            ) =>
            {
                return text.split_at_checked(at + 3);
            }
            0xe3 if matches!(bytes.get(at + 1..at + 3), Some([0x80, 0x81])) => {
                return text.split_at_checked(at + 3);
            }
            0xe2 if matches!(bytes.get(at + 1..at + 3), Some([0x80, 0x93 | 0x94])) => {
                return text.split_at_checked(at + 3);
            }
            _ => at += 1,
        }
    }
    Some((text, ""))
}

/// The word in a part: no marks at its ends but `%`.
fn bare(part: &str) -> &str {
    if !part.is_ascii() {
        return part.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
    }
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'%';
    let Some(start) = part.bytes().position(kept) else {
        return "";
    };
    let end = part.bytes().rposition(kept).unwrap_or(start);
    part.get(start..=end).unwrap_or_default()
}

fn kinds(word: &str) -> u32 {
    let mut kinds = KINDS.get(word).copied().unwrap_or(0);
    // The name of one test.
    if word.starts_with("test_") || word.ends_with("_test") || word.ends_with("_spec") {
        kinds |= Kind::Check as u32;
    }
    if word.ends_with("n't") {
        kinds |= Kind::Negation as u32;
    }
    if word.ends_with("'ll") || word.ends_with("'d") {
        kinds |= Kind::Plan as u32;
    }
    if word.bytes().all(|b| b.is_ascii_digit() || b == b'%') && word != "0" {
        kinds |= Kind::Number as u32;
    }
    kinds
}
