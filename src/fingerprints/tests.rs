//! Equal and different, by example and for any text.

use proptest::prelude::*;

use super::digest::{neutral, neutralised, raw};
use super::*;
use crate::model::Likeness;

fn k(arguments: &str) -> u64 {
    key(7, "tool", arguments)
}

#[track_caller]
fn same(texts: &[&str]) {
    for pair in texts.windows(2) {
        assert_eq!(k(pair[0]), k(pair[1]), "{} | {}", pair[0], pair[1]);
    }
}

#[track_caller]
fn differ(texts: &[&str]) {
    for (at, a) in texts.iter().enumerate() {
        for b in &texts[at + 1..] {
            assert_ne!(k(a), k(b), "{a} | {b}");
        }
    }
}

#[test]
fn keys_fold_spelling() {
    same(&[
        r#"{"a":1,"b":"x"}"#,
        r#"{ "b" : "x", "a" : 1.0 }"#,
        r#"{"a":1e0,"b":" x "}"#,
    ]);
    same(&[
        r#"{"a":1}"#,
        r#"{"a":1,"b":null}"#,
        r#"{"a":1,"reason":"why","timeout":5}"#,
    ]);
    same(&[
        r#"{"command":":"}"#,
        r#"{"command":": "}"#,
        r#"{"command":":\n","description":"x"}"#,
    ]);
    same(&[r#"{"command":"ls   -la"}"#, r#"{"command":"ls -la"}"#]);
    same(&[
        r#"{"path":"src/jobs"}"#,
        r#"{"path":"src/jobs/"}"#,
        r#"{"path":"./src/jobs"}"#,
    ]);
    same(&["{}", "", "  ", "null"]);
    same(&["ls  -l", " ls -l\n"]);
    same(&[r#"{"a":1,"a":2}"#, r#"{"a":2}"#]);
    same(&[r#"{"n":0.10}"#, r#"{"n":1e-1}"#, r#"{"n":0.1}"#]);
    same(&[r#"{"n":-0}"#, r#"{"n":0.0}"#]);
    same(&[r#"{"\u0061":"\u00e9"}"#, "{\"a\":\"\u{e9}\"}"]);
    same(&[r#"{"x":{"a":1,"b":null}}"#, r#"{"x":{"a":1.0}}"#]);
}

#[test]
fn keys_keep_what_selects() {
    differ(&[
        r#"{"a":1}"#,
        r#"{"a":"1"}"#,
        r#"{"a":true}"#,
        r#"{"a":[1]}"#,
        r#"{"b":1}"#,
    ]);
    differ(&[r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, r#"{"a":[12]}"#]);
    differ(&["ls", r#""ls""#, r#"{"command":"ls"}"#]);
    differ(&[r#"{"cursor":"b3Qx8fJ2aa"}"#, r#"{"cursor":"9Kd77LmQ0z"}"#]);
    differ(&[
        r#"{"n":12345678901234567890123}"#,
        r#"{"n":12345678901234567890124}"#,
    ]);
    differ(&[r#"{"a":[null]}"#, r#"{"a":[]}"#]);
    // A tool that has nothing but decoration means it.
    differ(&[r#"{"thought":"a"}"#, r#"{"thought":"b"}"#]);
    // Indentation means something in programs.
    differ(&[
        r#"{"code":"if a:\n  b"}"#,
        r#"{"code":"if a:\n    b"}"#,
        r#"{"code":"if a:\nb"}"#,
    ]);
    let issue = |text: &str| {
        key(
            7,
            "create_issue",
            &format!(r#"{{"title":"t","description":"{text}"}}"#),
        )
    };
    assert_ne!(issue("a"), issue("b"));
    assert_ne!(key(7, "a", "{}"), key(7, "b", "{}"));
    assert_ne!(key(1, "a", "{}"), key(2, "a", "{}"));
}

#[test]
fn exact_is_stricter() {
    let e = |arguments| exact("t", arguments);
    assert_eq!(e(r#"{"b":1,"a":2}"#), e(r#"{"a":2,"b":1}"#));
    assert_ne!(e(r#"{"a":1}"#), e(r#"{"a":1.0}"#));
    assert_ne!(e(r#"{"a":1}"#), e(r#"{"a":1,"reason":"x"}"#));
    assert_ne!(e("x"), e("x "));
}

#[test]
fn deep_and_long_arguments_are_still_told_apart() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Cache::default().facts("t", &deep(64)).json);
    assert!(!Cache::default().facts("t", &deep(65)).json);
    assert_ne!(k(&deep(70)), k(&deep(71)));
    let long = |middle: &str| {
        format!(
            r#"{{"content":"{}{middle}{}"}}"#,
            "a".repeat(90_000),
            "b".repeat(90_000)
        )
    };
    assert_ne!(k(&long("x")), k(&long("y")));
    assert!(Cache::default().facts("t", &long("x")).truncated);
}

#[test]
fn neutral_digests_by_example() {
    for (a, b) in [
        ("took 9 ms", "took 10ms"),
        ("0.31s", "12.04s"),
        ("done in 1m 30s", "done in 12m 5s"),
        ("1h30m left", "2h05m left"),
        ("Finished in 1,247ms", "Finished in 3ms"),
        (
            "2031-03-01 11:00:00 heartbeat",
            "2031-03-02 11:01:00 heartbeat",
        ),
        (
            "at 2026-03-14T09:12:03.123Z.",
            "at 2026-03-15T10:00:00+02:00.",
        ),
        (
            "1790000000000000000\nprobe: absent",
            "1790000000007391823\nprobe: absent",
        ),
        ("ts=1790000000", "ts=1790000912"),
        (
            "[pid 3100] attempt 1: lock held",
            "[pid 41] attempt 12: lock held",
        ),
        (
            r#"{"ok":1,"durationMs":210,"pid":7000,"startedAt":"2031-02-01T10:00:11Z"}"#,
            r#"{"ok":1,"durationMs":99,"pid":7003,"startedAt":"2031-02-01T10:01:11Z"}"#,
        ),
        (
            r#"{"elapsed_time": 1.25, "n": 3}"#,
            r#"{"elapsed_time": 30, "n": 3}"#,
        ),
        (r#"{"a":"{\"took\":12}"}"#, r#"{"a":"{\"took\":9}"}"#),
        (
            "batch-3f2b9c1e started: worker 3f2b9c1e-77a0-4d2c-9a51-0b1c2d3e4f50 in 400ms (1.2s total)",
            "batch-a91d0c44 started: worker a91d0c44-12bb-4e0f-8c33-9d8e7f6a5b41 in 31ms (1.3s total)",
        ),
        (
            "cannot stat '/tmp/tmp.Qw81aZ/a.js'",
            "cannot stat '/tmp/tmp.mN03pL/a.js'",
        ),
        (
            "open /tmp/tmpab12cd3e failed",
            "open /tmp/tmpx9_k2mno failed",
        ),
        ("object at 0x7f3a1c2b4d50", "object at 0x7f3a1c2b9990"),
        ("request id: req_011CSHoE x", "request id: req_99ZZtq7 x"),
        ("Request ID 8Kx2p9 failed", "Request ID 7Jw1o8 failed"),
        ("x-request-id=ab12-cd", "x-request-id=ef34-gh"),
    ] {
        assert_ne!(raw(a), raw(b));
        assert_eq!(neutral(a), neutral(b), "{a} | {b}");
        assert!(!neutralised(a).is_empty(), "{a}");
    }
}

#[test]
fn what_means_something_stays() {
    for (a, b) in [
        ("5 tests failed", "4 tests failed"),
        ("HTTP 404", "HTTP 500"),
        ("port 3000", "port 3001"),
        ("41% used", "42% used"),
        ("12345678 rows", "12345679 rows"),
        ("due 2031-03-01", "due 2031-03-02"),
        ("high 06:12", "high 07:12"),
        (
            "ModuleLoaded 0x7ff80000 libcore",
            "ModuleLoaded 0x7ffa0000 libntx",
        ),
        ("1f0c9a7be2d4", "8be77a01c3f9"),
        ("error 0x80070005", "error 0x80070002"),
        ("5 m of cable", "6 m of cable"),
        ("3 days ago", "4 days ago"),
        ("version 1.2.3", "version 1.2.4"),
        ("attempts: 3", "attempts: 4"),
        ("decade facade", "facade decade"),
        (r#"{"started":true}"#, r#"{"started":false}"#),
        ("10 s\n5 failed", "10 s\n6 failed"),
    ] {
        assert_ne!(neutral(a), neutral(b), "{a} | {b}");
    }
}

#[test]
fn counts_for_evidence() {
    let counts = neutralised("took 3ms and 4 s, id 3f2b9c1e77");
    assert_eq!(counts.to_string(), "2 durations, 1 id");
    assert_eq!(neutralised("nothing").to_string(), "");
}

#[test]
fn long_answers_are_told_by_their_length() {
    let text = |middle: usize| {
        format!(
            "{}{}{}",
            "a".repeat(70_000),
            "b".repeat(middle),
            "c".repeat(20_000)
        )
    };
    assert_ne!(neutral(&text(10)), neutral(&text(11)));
}

fn likeness(a: &str, b: &str) -> Likeness {
    Likeness::of(&sketch("t", a), &sketch("t", b))
}

#[test]
fn near_equal_arguments() {
    let label = |word: &str| {
        format!(r#"{{"command":"./ci/status --label '{word}' --job 5521 | head -3"}}"#)
    };
    assert!(likeness(&label("amber"), &label("basil")).near());
    let read = |offset: u32| format!(r#"{{"path":"session.log","offset":{offset}}}"#);
    assert!(likeness(&read(49), &read(50)).near());
    let query = |words: &str| format!(r#"{{"query":"{words}"}}"#);
    assert!(
        !likeness(
            &query("tide table harbour"),
            &query("population of Ghana 2020")
        )
        .near()
    );
    assert!(!likeness(r#"{"a":"same words"}"#, r#"{"b":"same words"}"#).near());
    assert!(
        likeness(
            r#"{"a":"x y z","n":1}"#,
            r#"{"n":1.0,"a":"x y z","m":null}"#
        )
        .near()
    );
    assert!(!likeness("{}", r#"{"a":"x"}"#).near());
}

#[test]
fn words_are_counted_nearly_exactly() {
    let words = |range: std::ops::Range<u32>| {
        let words: Vec<String> = range.map(|n| format!("word{n}")).collect();
        format!(r#"{{"q":"{}"}}"#, words.join(" "))
    };
    for (a, b, jaccard) in [
        (0..10, 2..12, 8.0 / 12.0),
        (0..40, 10..50, 0.6),
        (0..20, 20..40, 0.0),
    ] {
        let found = likeness(&words(a), &words(b)).words;
        assert!((found - jaccard).abs() < 0.15, "{found} is not {jaccard}");
    }
}

#[test]
fn the_cache_tells_the_same() {
    let mut cache = Cache::new(7, 4);
    for round in 0..2 {
        for n in 0..32 {
            let arguments = format!(r#"{{"n":{n}}}"#);
            let facts = cache.facts("tool", &arguments);
            assert_eq!(facts.key, k(&arguments), "round {round}");
            assert_eq!(facts.exact, exact("tool", &arguments));
        }
    }
    assert_ne!(cache.facts("a", "{}").key, cache.facts("b", "{}").key);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::btree_map("[a-zA-Z_\\\\\" \u{e9}]{1,6}", inner, 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The document written with its members in reverse order and blanks everywhere.
fn respelled(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(items) => {
            let items: Vec<_> = items.iter().map(respelled).collect();
            format!(" [ {} ]\n", items.join(" ,\t"))
        }
        serde_json::Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .rev()
                .map(|(key, value)| {
                    format!(
                        "{} : {}",
                        serde_json::Value::from(key.as_str()),
                        respelled(value)
                    )
                })
                .collect();
            format!("{{ {} }}", members.join(" , "))
        }
        other => format!(" {other} "),
    }
}

proptest! {
    #[test]
    fn spelling_changes_neither_key_nor_form(value in json()) {
        let (a, b) = (value.to_string(), respelled(&value));
        prop_assert_eq!(key(1, "t", &a), key(1, "t", &b));
        prop_assert_eq!(exact("t", &a), exact("t", &b));
        prop_assert_eq!(signature("t", &a), signature("t", &b));
        prop_assert_eq!(sketch("t", &a), sketch("t", &b));
    }

    #[test]
    fn decoration_changes_no_key(value in ".{0,8}", why in ".{0,20}", seconds in 0u32..9999) {
        let plain = serde_json::json!({"command": value});
        let decorated = serde_json::json!(
            {"command": value, "reason": why, "Timeout_ms": seconds, "thought": null}
        );
        prop_assert_eq!(k(&plain.to_string()), k(&decorated.to_string()));
    }

    #[test]
    fn volatile_tokens_change_no_digest(a in 1u32..100_000, b in 1u32..100_000, rows in 0u32..9999) {
        let text = |n: u32, rows: u32| format!(
            "{rows} rows in {n} ms (pid {n}, attempt {n}) at 2031-01-02 03:04:{:02}", n % 60
        );
        prop_assert_eq!(neutral(&text(a, rows)), neutral(&text(b, rows)));
        prop_assert_ne!(neutral(&text(a, rows)), neutral(&text(b, rows + 1)));
    }

    #[test]
    fn any_text_is_taken(tool in ".{0,8}", text in any::<String>()) {
        let mut cache = Cache::default();
        let facts = cache.facts(&tool, &text);
        prop_assert_eq!(facts, cache.facts(&tool, &text));
        signature(&tool, &text);
        prop_assert!(raw(&text) == raw(&text) && neutral(&text) == neutral(&text));
        neutralised(&text);
        agentbudget_digest(&text);
        fold_name(&text);
        without_server(&text);
    }

    #[test]
    fn almost_json_is_taken(text in "[\\[\\]{}:,\"\\\\u0-9a-fA-FeE+. -]{0,60}") {
        let python = serde_json::from_str::<serde_json::Value>(&text);
        let facts = Fingerprinter::new(0).facts("t", &text);
        if python.is_ok() {
            prop_assert!(facts.json, "{text}");
        }
        neutral(&text);
    }
}
