//! Tests: what is told, what is only counted, and what somebody has accepted.

use crate::model::Step;

use super::ignore_line;
use super::testing::{Bench, call};

fn same(trace: u8, from: u32, count: u32) -> Vec<Step> {
    (0..count)
        .map(|n| call(trace, from + n, 100 * u64::from(n + 1), "read a", "x"))
        .collect()
}

#[test]
fn a_fingerprint_is_the_same_through_an_episode_and_in_every_run() {
    let mut bench = Bench::new(|_| {});
    bench.send(1000, &same(1, 1, 6)).send(2000, &same(2, 11, 3));
    let lines: Vec<String> = bench.out.reports.iter().map(ignore_line).collect();
    assert_eq!(
        lines,
        ["- {type: stuck, fingerprint: c87416d659372ce0, reason: \"why this is fine\"}"; 3]
    );
}
