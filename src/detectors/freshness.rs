//! What the ledger proves at the moment of a claim (DESIGN 6, Freshness).
//!
//! Invariant: only steps that ended at or before the claim count, whatever has arrived since. A passing check
//! is proof when it started at or after the end of the last successful source edit and ended after it, ran
//! where the edit lies, and no failing check of the same or a wider scope ended after it.

use std::time::Duration;

use smallvec::SmallVec;

use crate::lanes::{Check, Edit, Ledger, Reply};
use crate::model::{CheckKind, Stash, Timestamp, Verdict};

/// Why a claim is not proved. In order: the first that holds is the one told (A14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// The last check was red.
    Failed,
    /// Its exit status is hidden, and its output does not settle it.
    Masked,
    /// It ran, and found nothing to run.
    ZeroTests,
    /// The last tests were stopped before their end.
    Stopped,
    /// It ran elsewhere than the edits lie.
    Elsewhere,
    /// It is older than the last edit.
    Stale,
    /// The text tells of checks, and none ran.
    Invented,
    /// None ran.
    None,
}

impl Gap {
    /// The reason shown.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Masked => "masked",
            Self::ZeroTests => "zero_tests",
            Self::Stopped => "stopped",
            Self::Elsewhere => "elsewhere",
            Self::Stale => "stale",
            Self::Invented => "invented",
            Self::None => "none",
        }
    }
}

/// What is known at the moment of a claim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'v> {
    /// The last successful source edit.
    pub(super) edit: Option<&'v Edit>,
    /// The last tests, whatever they showed.
    pub(super) last: Option<&'v Check>,
    /// The program, a build or a linter ran after the edit and did not fail.
    pub(super) weak: bool,
    /// Clocks of two processes had to be compared.
    pub(super) two_clocks: bool,
    /// Where the claim stands.
    pub(super) standing: Standing,
}

/// Where a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Proved, or there is nothing to prove.
    Proved,
    /// Not proved, and this is why.
    Gap(Gap),
    /// A check ran, and nothing says what it showed.
    Unknown,
}

/// Weighs a claim that ends with `claim`; `of_checks`: its text says that checks passed.
pub(super) fn weigh<'v>(
    ledger: &'v Ledger,
    claim: &Reply,
    of_checks: bool,
    tolerance: Duration,
) -> Evidence<'v> {
    let slack = |resource| {
        if resource == claim.resource {
            Duration::ZERO
        } else {
            tolerance
        }
    };
    let counted = |check: &&Check| check.end <= claim.end.plus(slack(check.resource));
    let put = PutAside::read(ledger, claim.end);
    let edit = ledger
        .edits()
        .iter()
        .filter(|edit| edit.source && edit.succeeded != Some(false) && edit.end <= claim.end)
        .filter(|edit| !put.holds(edit))
        .max_by_key(|edit| (edit.end, edit.order));
    let checks = ledger.checks().iter().filter(counted);
    let (elsewise, tests): (SmallVec<[&Check; 16]>, SmallVec<[&Check; 16]>) = checks
        .clone()
        .filter(|check| strong(check))
        .partition(|check| put.saw_another_tree(check));
    let tests = tests.iter().copied();
    let last = tests.clone().max_by_key(|check| (check.end, check.order));
    let two_clocks = edit
        .zip(last)
        .is_some_and(|(edit, last)| edit.resource != last.resource);
    let passes = tests.clone().filter(|check| passed(check));
    let holds = |pass: &&Check| {
        !tests
            .clone()
            .any(|other| other.verdict == Verdict::Failed && outweighs(other, pass))
    };
    let weak = edit.is_some_and(|edit| {
        checks.clone().any(|check| {
            !strong(check) && check.verdict != Verdict::Failed && fresh(check, edit, tolerance)
        })
    });
    let mut evidence = Evidence {
        edit,
        last,
        weak,
        two_clocks,
        standing: Standing::Proved,
    };
    let Some(edit) = edit else {
        if of_checks && !passes.clone().any(|pass| holds(&pass)) {
            let shown = |last| by_verdict(last).unwrap_or(Standing::Proved);
            evidence.standing = last.map_or(Standing::Gap(Gap::Invented), shown);
        }
        return evidence;
    };
    let mut fresh_passes = passes.filter(|pass| fresh(pass, edit, tolerance) && holds(pass));
    let mut proofs = fresh_passes.clone().filter(|pass| covers(pass, edit));
    if proofs.clone().any(|pass| pass.seen) {
        return evidence;
    }
    if proofs.next().is_some() {
        // An exit code alone does not tell whether any test ran.
        evidence.standing = Standing::Unknown;
        return evidence;
    }
    evidence.standing = match last {
        // They ran, while the edits were put aside.
        None if !elsewise.is_empty() => Standing::Gap(Gap::Elsewhere),
        None if of_checks => Standing::Gap(Gap::Invented),
        None => Standing::Gap(Gap::None),
        Some(last) => {
            let elsewhere = fresh_passes.next().is_some();
            unproved(last, fresh(last, edit, tolerance), elsewhere)
        }
    };
    evidence
}

/// What the last check leaves open; `elsewhere`: a fresh one passed, but of another place than the edit.
fn unproved(last: &Check, fresh: bool, elsewhere: bool) -> Standing {
    match by_verdict(last) {
        Some(Standing::Unknown) if !fresh => Standing::Gap(Gap::Stale),
        Some(standing) => standing,
        None if elsewhere => Standing::Gap(Gap::Elsewhere),
        None => Standing::Gap(Gap::Stale),
    }
}

/// Edits that were put aside and taken back before the claim: what ran between saw another tree, and after
/// it the tree was what it was before.
struct PutAside<'v>(SmallVec<[(&'v Edit, &'v Edit); 2]>);

impl<'v> PutAside<'v> {
    fn read(ledger: &'v Ledger, until: Timestamp) -> Self {
        let mut open: SmallVec<[&Edit; 2]> = SmallVec::new();
        let mut pairs = SmallVec::new();
        for edit in ledger.edits() {
            if edit.succeeded == Some(false) || edit.end > until {
                continue;
            }
            match edit.stash {
                Some(Stash::Put) => open.push(edit),
                Some(Stash::Taken) => pairs.extend(open.pop().map(|put| (put, edit))),
                None => {}
            }
        }
        Self(pairs)
    }

    fn holds(&self, edit: &Edit) -> bool {
        self.0
            .iter()
            .any(|(put, taken)| put.span == edit.span || taken.span == edit.span)
    }

    fn saw_another_tree(&self, check: &Check) -> bool {
        check.aside
            || self
                .0
                .iter()
                .any(|(put, taken)| check.start >= put.end && check.end <= taken.start)
    }
}

/// What the verdict of the last tests alone says; `None` when they passed.
fn by_verdict(last: &Check) -> Option<Standing> {
    match last.verdict {
        Verdict::Failed => Some(Standing::Gap(Gap::Failed)),
        // What could have settled it was not captured.
        Verdict::Masked if !last.seen => Some(Standing::Unknown),
        Verdict::Masked => Some(Standing::Gap(Gap::Masked)),
        Verdict::ZeroTests => Some(Standing::Gap(Gap::ZeroTests)),
        Verdict::Stopped if !last.seen => Some(Standing::Unknown),
        Verdict::Stopped => Some(Standing::Gap(Gap::Stopped)),
        Verdict::Unknown => Some(Standing::Unknown),
        Verdict::Passed | Verdict::PassedBySummary => None,
    }
}

fn strong(check: &Check) -> bool {
    check.kind == CheckKind::Tests && !check.weak
}

fn passed(check: &Check) -> bool {
    matches!(check.verdict, Verdict::Passed | Verdict::PassedBySummary)
}

/// Whether a check ran after an edit; between two processes the clocks are read in the agent's favour.
fn fresh(check: &Check, edit: &Edit, tolerance: Duration) -> bool {
    let slack = if check.resource == edit.resource {
        Duration::ZERO
    } else {
        tolerance
    };
    check.start.plus(slack) >= edit.end && check.end.plus(slack) > edit.end
}

/// Whether a failing check undoes a pass: it ended later, and its scope is the same or wider.
fn outweighs(failed: &Check, pass: &Check) -> bool {
    let later = (failed.end, failed.order) > (pass.end, pass.order);
    let same_place = failed.runner == pass.runner && failed.cwd == pass.cwd;
    later && (!failed.partial || (pass.partial && same_place))
}

/// Whether a check ran where an edit lies: one directory holds the other, the tests' own one apart.
fn covers(check: &Check, edit: &Edit) -> bool {
    let (Some(cwd), Some(root)) = (&check.cwd, &edit.root) else {
        return true;
    };
    // Nobody knows where a relative path lies: that it is elsewhere takes proof.
    if is_absolute(cwd) != is_absolute(root) {
        return true;
    }
    let cwd = without_test_directory(cwd);
    let root = without_test_directory(root);
    holds(cwd, root) || holds(root, cwd)
}

/// `/x`, `\x`, `C:\x`.
fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

/// `pkg/tests` holds the tests of `pkg`: who runs them there runs them for `pkg`.
fn without_test_directory(path: &str) -> &str {
    const NAMES: [&str; 8] = [
        "tests",
        "test",
        "spec",
        "specs",
        "__tests__",
        "e2e",
        "testing",
        "src",
    ];
    let path = path.trim_end_matches(['/', '\\']);
    match path.rsplit_once(['/', '\\']) {
        Some((parent, last)) if NAMES.contains(&last) && !parent.is_empty() => parent,
        _ => path,
    }
}

/// Whether `outer` is `inner`, or a directory above it, by whole parts.
fn holds(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
        || matches!(outer, "." | "")
}

/// When a moment was, in milliseconds since the epoch.
pub(super) fn unix_ms(moment: Timestamp) -> i64 {
    i64::try_from(moment.nanos() / 1_000_000).unwrap_or(i64::MAX)
}
