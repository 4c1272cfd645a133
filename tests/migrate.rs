//! Configurations of the OpenTelemetry collector, as people have them, made into ours.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads fixtures")]

use std::path::Path;

use agent_sentinel::config::{self, Source};
use agent_sentinel::model::Timestamp;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_nanos(1_790_000_000_000_000_000);

fn fixture(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otelcol");
    let text = std::fs::read_to_string(path.join(name)).unwrap();
    Source::file(name, text)
}

/// What comes out, and what is said.
fn migrated(name: &str) -> String {
    let migrated = config::migrate(&fixture(name), NOW).unwrap();
    format!("{}---\n{}\n", migrated.text, migrated.notes.join("\n"))
}

fn shown(name: &str) -> String {
    let migrated = config::migrate(&fixture(name), NOW).unwrap();
    // What comes out is taken here, with any environment.
    let env = |name: &str| Some(format!("value-of-{}", name.to_lowercase()));
    let sources = [Source::file("ours", &migrated.text)];
    if let Err(report) = config::load(&sources, &[], &env, NOW) {
        panic!("{}\n{report}", migrated.text);
    }
    self::migrated(name)
}

#[test]
fn a_quickstart() {
    insta::assert_snapshot!(shown("quickstart.yaml"));
}

#[test]
fn a_gateway_that_samples() {
    insta::assert_snapshot!(shown("tail-sampling.yaml"));
}

#[test]
fn an_agent_on_kubernetes() {
    insta::assert_snapshot!(shown("kubernetes-agent.yaml"));
}

#[test]
fn in_front_of_jaeger() {
    let shown = shown("jaeger.yaml");
    let (ours, notes) = shown.split_once("---\n").unwrap();
    assert!(
        ours.contains("secret-of-the-user"),
        "it is the user's own file"
    );
    assert!(!notes.contains("secret-of-the-user"), "{notes}");
    insta::assert_snapshot!(shown);
}

#[test]
fn to_datadog() {
    insta::assert_snapshot!(shown("datadog.yaml"));
}

#[test]
fn what_guards_a_receiver_is_kept_or_it_is_shut() {
    let shown = shown("guarded.yaml");
    let (ours, _) = shown.split_once("---\n").unwrap();
    for reference in ["${env:CERT_FILE}", "${env:KEY_PEM}", "${env:TOKEN}"] {
        assert!(ours.contains(reference), "{reference}: {ours}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn references_are_kept_wherever_a_variable_can_hold_what_belongs_there() {
    insta::assert_snapshot!(migrated("references.yaml"));
    let env = |name: &str| {
        let value = match name {
            "VERBOSITY" => "detailed",
            "ENABLED" => "true",
            "CONSUMERS" => "4",
            "INTERVAL" => "20s",
            "COMPRESSION" => "gzip",
            "URL" => "https://backend.example",
            "ADDRESS" => "backend.example:4317",
            "HOST" => "127.0.0.1",
            _ => "secret",
        };
        Some(value.to_owned())
    };
    let text = config::migrate(&fixture("references.yaml"), NOW)
        .unwrap()
        .text;
    if let Err(report) = config::load(&[Source::file("ours", &text)], &[], &env, NOW) {
        panic!("{text}\n{report}");
    }
}

#[test]
fn where_nothing_can_be_taken_over_that_is_said() {
    let unmigrated = config::migrate(&fixture("nothing.yaml"), NOW).unwrap_err();
    assert_eq!(unmigrated.notes.len(), 3, "{unmigrated:?}");
    assert!(
        unmigrated.errors[0].contains("nothing of it"),
        "{unmigrated:?}"
    );
    let metrics = "receivers: {otlp: {}}\nexporters: {debug: {}}\n\
                   service: {pipelines: {metrics: {receivers: [otlp], exporters: [debug]}}}";
    let unmigrated = config::migrate(&Source::file("x", metrics), NOW).unwrap_err();
    assert!(
        unmigrated.errors[0].starts_with("x:1:1: there is no pipeline of traces"),
        "{unmigrated:?}"
    );
    let unmigrated =
        config::migrate(&Source::file("x", "a:\n  key: [hunter2: b: c"), NOW).unwrap_err();
    assert!(unmigrated.errors[0].starts_with("x:2"), "{unmigrated:?}");
    assert!(
        !format!("{unmigrated:?}").contains("hunter2"),
        "{unmigrated:?}"
    );
}

#[test]
fn an_address_that_is_refused_is_not_repeated_where_it_may_hold_a_secret() {
    let text = "receivers: {otlp: {}}\nexporters: {debug: {}, otlphttp: {endpoint: 'ftp://u:hunter2@h/?t=hunter2'}}\n\
                service: {pipelines: {traces: {receivers: [otlp], exporters: [debug, otlphttp]}}}";
    let notes = config::migrate(&Source::file("x", text), NOW)
        .unwrap()
        .notes;
    assert!(
        notes[0].starts_with("x:2: `exporters.otlphttp` is left out"),
        "{notes:?}"
    );
    assert!(!notes.join(" ").contains("hunter2"), "{notes:?}");
}

const FIXTURES: [&str; 8] = [
    "quickstart.yaml",
    "tail-sampling.yaml",
    "kubernetes-agent.yaml",
    "jaeger.yaml",
    "datadog.yaml",
    "guarded.yaml",
    "references.yaml",
    "nothing.yaml",
];

proptest! {
    /// Whatever is done to a configuration, what comes out is valid, or a report.
    #[test]
    fn no_configuration_breaks_it(name in proptest::sample::select(&FIXTURES[..]), at in 0usize..1200, cut in 0usize..40, put in "[a-z:{}\\[\\] \n$]{0,8}") {
        let text = fixture(name).text;
        let from = text.floor_char_boundary(at);
        let to = text.floor_char_boundary(from + cut).max(from);
        let text = format!("{}{put}{}", &text[..from], &text[to..]);
        if let Ok(migrated) = config::migrate(&Source::file("x", text), NOW) {
            let env = |_: &str| Some("a.example".to_owned());
            let sources = [Source::file("ours", &migrated.text)];
            let loaded = config::load(&sources, &[], &env, NOW);
            // A variable may hold what has no place where it stands.
            let wrong = loaded.is_err() && !migrated.text.contains('$');
            prop_assert!(!wrong, "{}", migrated.text);
        }
    }

    /// Nor does any other text.
    #[test]
    fn no_text_breaks_it(text in "\\PC{0,80}|[a-z:{}\\[\\] \n$&*<-]{0,120}") {
        let _ = config::migrate(&Source::file("x", text), NOW);
    }
}
