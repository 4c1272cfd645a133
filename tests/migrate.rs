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

fn shown(name: &str) -> String {
    let migrated = config::migrate(&fixture(name), NOW).unwrap();
    // What comes out is taken here, with any environment.
    let env = |name: &str| Some(format!("value-of-{}", name.to_lowercase()));
    let sources = [Source::file("ours", &migrated.text)];
    if let Err(report) = config::load(&sources, &[], &env, NOW) {
        panic!("{}\n{report}", migrated.text);
    }
    format!("{}---\n{}\n", migrated.text, migrated.notes.join("\n"))
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
fn where_nothing_can_be_taken_over_that_is_said() {
    let report = config::migrate(&fixture("nothing.yaml"), NOW).unwrap_err();
    assert!(report.to_string().contains("nothing of it"), "{report}");
    let report = config::migrate(&Source::file("x", "a: [1"), NOW).unwrap_err();
    assert!(report.to_string().contains("x:1"), "{report}");
}

proptest! {
    /// Whatever is done to a configuration, what comes out is valid, or a report.
    #[test]
    fn no_configuration_breaks_it(at in 0usize..1200, cut in 0usize..40, put in "[a-z:{}\\[\\] \n$]{0,8}") {
        let text = fixture("tail-sampling.yaml").text;
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
}
