//! What the loader says of wrong configurations, what it makes of right ones, and that nothing makes it
//! panic.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads its fixtures")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_sentinel::config::{self, Purpose, Report, Settings, Source, Warnings};
use agent_sentinel::model::{Role, Timestamp};
use agent_sentinel::{detectors, exporters, sessions};
use proptest::prelude::*;

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(folder: &str) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.into_iter().map(named).collect()
}

/// What people copy: each configuration below collector-config, by its path, with what it is laid over. A preset says
/// how to judge and nothing else; `otelcol-*` are the OpenTelemetry collector's.
fn shipped() -> Vec<(String, Vec<Source>)> {
    let mut folders = vec!["collector-config".to_owned()];
    let mut all = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root(&folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = format!("{folder}/{name}");
            if root(&path).is_dir() {
                folders.push(path);
            } else if name.ends_with(".yaml") && !name.starts_with("otelcol-") {
                all.push(path);
            }
        }
    }
    all.sort();
    let read = |path: &str| Source::file(path, std::fs::read_to_string(root(path)).unwrap());
    let laid = |path: String| {
        let mut sources = vec![read(&path)];
        if path.contains("/presets/") {
            sources.insert(0, read("collector-config/quickstart.yaml"));
        }
        (path, sources)
    };
    all.into_iter().map(laid).collect()
}

fn env(name: &str) -> Option<String> {
    match name {
        // What the files of hosted backends ask for.
        "DD_API_KEY" | "HONEYCOMB_API_KEY" | "LANGFUSE_AUTH" => Some("a-key".to_owned()),
        "SET_TO_NONSENSE" => Some("from the environment".to_owned()),
        "TOKEN" => Some("hunter2".to_owned()),
        "FIVE" => Some("5".to_owned()),
        "JAEGER" => Some("jaeger:4317".to_owned()),
        _ => None,
    }
}

/// 2026-12-01.
const NOW: Timestamp = Timestamp::from_nanos(1_796_083_200_000_000_000);

fn load(text: &str) -> Result<(Settings, Warnings), Report> {
    config::load(&[Source::file("c.yaml", text)], &[], &env, NOW)
}

fn set(text: &str, overrides: &[(&str, &str)]) -> Result<(Settings, Warnings), Report> {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    config::load(&[Source::file("c.yaml", text)], &overrides, &env, NOW)
}

/// A configuration around the keys of `anomaly`, in one line.
fn anomaly(keys: &str) -> String {
    format!(
        "receivers: {{otlp: {{}}}}
exporters: {{debug: {{}}}}
processors: {{anomaly: {{{keys}}}}}
service: {{pipelines: {{traces: {{receivers: [otlp], processors: [anomaly], exporters: [debug]}}}}}}
"
    )
}

/// Every file is refused, and what is said of it is kept beside it.
#[test]
fn bad_configurations() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root("tests/bad-config"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, text) in files("tests/bad-config") {
        let report = config::load(&[Source::file(&name, &text)], &[], &env, NOW).unwrap_err();
        let shown = report.to_string();
        assert!(report.errors() > 0, "{name}");
        assert!(
            !shown
                .replace("hunter2 is no secret", "")
                .contains("hunter2"),
            "{name}: {shown}"
        );
        settings.bind(|| insta::assert_snapshot!(name.trim_end_matches(".yaml"), shown));
    }
}

/// Each file under collector-config is one that people copy.
#[test]
fn shipped_configurations_load_without_a_warning() {
    let shipped = shipped();
    for folder in ["topologies", "backends", "presets"] {
        let inside = format!("collector-config/{folder}/");
        assert!(
            shipped.iter().any(|(name, _)| name.starts_with(&inside)),
            "{folder}"
        );
    }
    for (name, sources) in shipped {
        match config::load(&sources, &[], &env, NOW) {
            Ok((settings, warnings)) => {
                let open = name.contains("container");
                assert!(open || warnings.is_empty(), "{name}: {warnings}");
                assert!(
                    !settings.receivers.is_empty() && !settings.exporters.is_empty(),
                    "{name}"
                );
            }
            Err(report) => panic!("{name}:\n{report}"),
        }
    }
}

/// A file in a folder begins with three lines that say when it is the right one.
#[test]
fn shipped_configurations_say_when_to_use_them() {
    let mut folders = 0;
    for folder in ["topologies", "backends", "presets"] {
        for (name, text) in files(&format!("collector-config/{folder}")) {
            folders += 1;
            for line in text.lines().take(3) {
                assert!(line.starts_with("# ") && line.len() > 40, "{name}: {line}");
            }
            // The command to try it with names the file itself.
            let command = text.lines().take_while(|line| line.starts_with('#'));
            let own = format!("collector-config/{folder}/{name}");
            assert!(
                command.clone().any(|line| line.ends_with(&own)),
                "{name}: no line with `--config {own}`"
            );
        }
    }
    assert!(folders > 15, "{folders}");
}

/// A preset can be laid over every backend and topology and keeps what it says.
#[test]
fn presets_go_with_every_other_file() {
    let shipped = shipped();
    let is_preset = |name: &str| name.contains("/presets/");
    for (name, preset) in shipped.iter().filter(|(name, _)| is_preset(name)) {
        for (base, sources) in shipped.iter().filter(|(name, _)| !is_preset(name)) {
            let mut sources = sources.clone();
            sources.extend(preset.last().cloned());
            let (settings, _) = config::load(&sources, &[], &env, NOW)
                .unwrap_or_else(|report| panic!("{name} over {base}:\n{report}"));
            assert!(!settings.exporters.is_empty(), "{name} over {base}");
        }
    }
}

/// What the documentation shows can be copied, and its table of detectors is the program's.
#[test]
fn the_documentation_holds() {
    for (page, block) in copied() {
        load(&block).unwrap_or_else(|report| panic!("{page}: {block}\n{report}"));
    }
    let page = std::fs::read_to_string(root("docs/configuration.md")).unwrap();
    for detector in detectors::Descriptor::ALL {
        let row = format!(
            "| `{}` | {} | {} | {} |",
            detector.anomaly, detector.scope, detector.defaults, detector.severity
        );
        assert!(page.contains(&row), "{row}");
    }
}

/// The words of each detector's defaults are the defaults.
#[test]
fn described_defaults_are_the_defaults() {
    let (silent, _) = load(&anomaly("")).unwrap();
    for detector in detectors::Descriptor::ALL {
        let written = detector.defaults.replace(": none", ": null");
        if written == "-" {
            continue;
        }
        let text = anomaly(&format!(
            "detectors: {{{}: {{{written}}}}}",
            detector.anomaly
        ));
        let (mut settings, _) = load(&text).unwrap_or_else(|report| panic!("{report}"));
        let name = detector.anomaly;
        // Its default depends on the rules: the words say what holds for aware ones.
        settings.engine.detectors.stutter.min_tokens = None;
        assert_eq!(settings.engine.detectors, silent.engine.detectors, "{name}");
    }
}

#[test]
fn every_key_of_the_processor() {
    let text = anomaly(
        "group_by: [trace], rules: source, turn: conversation, settle: 0s, max_state: 1MiB, \
         run: {idle_timeout: 1m, max_steps: 5}, conversation: {idle_timeout: 2m}, \
         workspace: {root: /srv, home: /home/a}, tools: {run_checks: verify, 'my_*': edit}, show_signature: true, \
         detectors: {stuck: {threshold: 4, severity: critical}, \
         error_rate: {rules: aware}, novel_host: {rules: aware, tools: {'wait_*': {ignore: true}}}, stutter: {enabled: false}}, overrides: [], ignore: [], policy: {cooldown: 0s}, mode: observe, \
         annotate: {status: error_if_unset, late: span, evidence: none, emit_evaluation_event: true, trace_url: ''}, \
         max_held: 1KiB, max_clock_skew: 1s",
    );
    let (settings, warnings) = load(&text).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    let steps = settings.steps;
    assert_eq!(steps.tools.of("my_writer"), Some(Role::Edit));
    assert!(steps.workspace.root.is_some_and(|root| !root.infers()));
    assert!(steps.show_signature);
    let engine = settings.engine;
    assert!(!engine.sessions.join_conversations);
    assert!(engine.sessions.source && engine.policy.source);
    assert_eq!(engine.rules, detectors::Rules::Source);
    assert_eq!(engine.sessions.turn, sessions::Turn::Conversation);
    assert_eq!(
        engine.sessions.settle,
        sessions::Settle::Fixed(Duration::ZERO)
    );
    assert_eq!(engine.sessions.max_state, 1 << 20);
    assert_eq!(engine.sessions.run.max_steps, 5);
    assert_eq!(engine.policy.cooldown, Duration::ZERO);
    assert_eq!(engine.detectors.stuck.threshold, 4);
    assert!(engine.detectors.novel_host.tools["wait_*"].ignore);
    assert_eq!(engine.detectors.r#loop, detectors::LoopConfig::default());
}

#[test]
fn the_collectors_habits() {
    let text = "
receivers:
  otlp:
    protocols:
      grpc:
      http:
exporters:
  debug:
  otlp/jaeger: {endpoint: '${env:JAEGER}', tls: {insecure: true}}
extensions:
  health_check:
service:
  extensions: [health_check]
  pipelines:
    traces/main:
      receivers: [otlp]
      processors: [anomaly]
      exporters: [debug, otlp/jaeger]
";
    let (settings, warnings) = load(text).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    let protocols = &settings.receivers[0].settings.protocols;
    assert!(protocols.grpc.is_some() && protocols.http.is_some());
    assert!(settings.health_check.is_some());
    let shown = settings.pipelines[0].to_string();
    assert_eq!(shown, "traces/main: otlp -> anomaly -> debug, otlp/jaeger");
    let exporters::Settings::OtlpGrpc(grpc) = &settings.exporters[1].settings else {
        panic!("{:?}", settings.exporters);
    };
    assert_eq!(grpc.endpoint, "jaeger:4317");
}

#[test]
fn json_is_yaml_and_anchors_and_merge_keys_work() {
    load(r#"{"receivers": {"otlp": {"protocols": {"http": {"endpoint": "localhost:0"}}}}, "exporters": {"debug": {}},
        "service": {"pipelines": {"traces": {"receivers": ["otlp"], "processors": ["anomaly"], "exporters": ["debug"]}}}}"#)
    .unwrap();
    let text = "
receivers: {otlp: {}}
exporters:
  otlp/a: &a
    endpoint: a:4317
    timeout: 7s
    headers: {x: one}
  otlp/b:
    <<: *a
    endpoint: b:4317
service:
  pipelines:
    traces: {receivers: [otlp], processors: [anomaly], exporters: [otlp/a, otlp/b]}
";
    let (settings, _) = load(text).unwrap();
    let exporters::Settings::OtlpGrpc(b) = &settings.exporters[1].settings else {
        panic!();
    };
    assert_eq!(
        (b.endpoint.as_str(), b.timeout),
        ("b:4317", Duration::from_secs(7))
    );
    assert_eq!(b.headers["x"], "one");
}

#[test]
fn a_pipeline_of_logs_takes_findings() {
    let text = "
receivers: {otlp: {}}
processors: {anomaly/x: {annotate: {late: log}}}
exporters:
  debug: {}
  otlp_http: {logs_endpoint: 'http://logs:4318/own'}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [anomaly/x], exporters: [debug]}
    logs: {receivers: [anomaly/x], exporters: [debug, otlp_http]}
";
    let (settings, warnings) = load(text).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    let ids = |exporters: &[config::Exporter]| -> Vec<String> {
        exporters.iter().map(|one| one.id.clone()).collect()
    };
    assert_eq!(ids(&settings.exporters), ["debug"]);
    assert_eq!(ids(&settings.log_exporters), ["debug", "otlp_http"]);
    assert!(settings.engine.logs);
    let shown = settings.pipelines.iter().map(ToString::to_string);
    let shown: Vec<String> = shown.collect();
    assert_eq!(
        shown,
        [
            "traces: otlp -> anomaly/x -> debug",
            "logs: anomaly/x -> debug, otlp_http"
        ]
    );
    // A replay starts no pipeline, but what goes where is told.
    let alone = [Source::file(
        "c.yaml",
        "processors: {anomaly: {annotate: {late: log}}}",
    )];
    let (settings, _) = config::load_for(Purpose::Replay, &alone, &[], &env, NOW).unwrap();
    assert!(!settings.engine.logs);
}

/// Each receiver's log records and metrics go to the exporters of the pipelines that name it, and to no other.
#[test]
fn logs_and_metrics_go_where_their_pipelines_say() {
    let text = "
receivers: {otlp: {}, otlp/two: {protocols: {grpc: {endpoint: 'localhost:5317'}}}}
exporters: {debug: {}, debug/a: {}, debug/b: {}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}
    logs: {receivers: [otlp, anomaly], exporters: [debug/a]}
    logs/two: {receivers: [otlp, otlp/two], exporters: [debug/a, debug/b]}
    logs/three: {receivers: [otlp/two], processors: [anomaly], exporters: [debug]}
    metrics: {receivers: [otlp/two], exporters: [debug]}
";
    let (settings, warnings) = load(text).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    let takes: Vec<_> = settings.receivers.iter().map(|one| &one.takes).collect();
    let ids = |ids: &[&str]| -> Vec<String> { ids.iter().map(|id| (*id).to_owned()).collect() };
    let one = config::Takes {
        traces: true,
        reads_logs: false,
        logs: ids(&["debug/a", "debug/b"]),
        metrics: Vec::new(),
    };
    let two = config::Takes {
        traces: false,
        reads_logs: true,
        logs: ids(&["debug/a", "debug/b", "debug"]),
        metrics: ids(&["debug"]),
    };
    assert_eq!(takes, [&one, &two]);
    let logs: Vec<_> = settings
        .log_exporters
        .iter()
        .map(|one| (one.id.as_str(), one.relays, one.findings))
        .collect();
    assert_eq!(
        logs,
        [
            ("debug", true, true),
            ("debug/a", true, true),
            ("debug/b", true, false)
        ]
    );
    assert_eq!(settings.metric_exporters.len(), 1);
    assert!(settings.engine.logs);
    // Logs alone are judged too, where the processor stands in their pipeline.
    let alone = "
receivers: {otlp: {}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
";
    let (settings, _) = load(alone).unwrap();
    assert!(settings.exporters.is_empty() && settings.engine.logs);
    assert!(!settings.receivers[0].takes.traces);
}

#[test]
fn later_sources_win_maps_merge_lists_replace() {
    let base = anomaly("max_held: 1KiB, detectors: {stuck: {threshold: 4}}");
    let over = "
processors: {anomaly: {detectors: {stuck: {severity: error}, loop: {window: 30}}}}
exporters: {file: {path: out.jsonl}}
service: {pipelines: {traces: {exporters: [file]}}}
extensions:
receivers:
";
    let sources = [
        Source::file("base.yaml", base),
        Source::file("over.yaml", over),
    ];
    let (settings, warnings) = config::load(&sources, &[], &env, NOW).unwrap();
    let detectors = &settings.engine.detectors;
    assert_eq!(
        (detectors.stuck.threshold, detectors.r#loop.window),
        (4, 30)
    );
    assert_eq!(settings.engine.sessions.max_held, 1024);
    assert_eq!(settings.exporters.len(), 1);
    assert_eq!(settings.exporters[0].id, "file");
    insta::assert_snapshot!("an_overlay_that_names_sections_only", warnings);
}

#[test]
fn overrides_reach_every_key() {
    let text = anomaly("settle: auto");
    let overrides = [
        ("processors.anomaly.settle", "2s"),
        ("processors::anomaly::detectors::stuck", "{threshold: 5}"),
        (
            "processors.anomaly.detectors.error_rate.window",
            "${env:FIVE}",
        ),
        ("exporters.debug.verbosity", "basic"),
        ("service.pipelines.traces.exporters", "[debug]"),
    ];
    let (settings, _) = set(&text, &overrides).unwrap();
    assert_eq!(
        settings.engine.sessions.settle,
        sessions::Settle::Fixed(Duration::from_secs(2))
    );
    assert_eq!(settings.engine.detectors.stuck.threshold, 5);
    assert_eq!(settings.engine.detectors.error_rate.window, 5);
    let report = set(
        &text,
        &[
            ("processors.anomaly.detectors.stuk.threshold", "3"),
            ("processors.anomaly.settle", "'soon"),
        ],
    )
    .unwrap_err();
    insta::assert_snapshot!("an_override_that_is_no_yaml", report);
    let report = set(
        &text,
        &[
            ("processors.anomaly.detectors.stuk.threshold", "3"),
            ("exporters.debug.verbosity", "loud"),
            ("a..b", "1"),
        ],
    )
    .unwrap_err();
    insta::assert_snapshot!("overrides_that_fit_nowhere", report);
}

#[test]
fn keys_of_a_yaml_argument_may_be_paths() {
    let mut argument = Source::file("yaml:", "processors::anomaly::settle: 3s");
    argument.paths = true;
    let sources = [Source::file("c.yaml", anomaly("mode: observe")), argument];
    let (settings, _) = config::load(&sources, &[], &env, NOW).unwrap();
    assert_eq!(
        settings.engine.sessions.settle,
        sessions::Settle::Fixed(Duration::from_secs(3))
    );
}

#[test]
fn quoted_texts_stay_texts() {
    let exporter = |value: &str| {
        format!(
            "receivers: {{otlp: {{}}}}
exporters: {{otlp: {{endpoint: 'a:1', headers: {{x: {value}}}}}}}
service: {{pipelines: {{traces: {{receivers: [otlp], processors: [anomaly], exporters: [otlp]}}}}}}
"
        )
    };
    for (value, want) in [
        ("0123", "0123"),
        ("'0x10'", "0x10"),
        ("1e3", "1e3"),
        ("true", "true"),
        ("'null'", "null"),
        ("'${env:FIVE}$$'", "5$"),
    ] {
        let (settings, _) = load(&exporter(value)).unwrap();
        let exporters::Settings::OtlpGrpc(grpc) = &settings.exporters[0].settings else {
            panic!();
        };
        assert_eq!(grpc.headers["x"], want, "{value}");
    }
    assert!(load(&exporter("null")).is_err());
}

#[test]
fn for_replay_only_the_processor_counts() {
    let replay = |text: &str| {
        config::load_for(
            Purpose::Replay,
            &[Source::file("c.yaml", text)],
            &[],
            &env,
            NOW,
        )
        .unwrap()
    };
    let (settings, warnings) = replay("processors: {anomaly: {max_held: 7}}");
    assert!(warnings.is_empty(), "{warnings}");
    assert_eq!(settings.engine.sessions.max_held, 7);
    let (settings, _) = replay(&anomaly("max_held: 8"));
    assert_eq!(settings.engine.sessions.max_held, 8);
    let (settings, _) = config::load_for(Purpose::Replay, &[], &[], &env, NOW).unwrap();
    assert_eq!(settings.engine.sessions.max_held, 64 << 20);
}

/// One value that cannot be, for every key of every detector: what is reported stands at file, line and key, and says
/// what to write.
#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn every_key_of_every_detector_is_checked() {
    let common = [
        ("enabled", "maybe"),
        ("severity", "fatal"),
        ("rules", "own"),
        ("emit", "false"),
        ("tools", "[a]"),
    ];
    let own = [
        ("stuck", "threshold", "1"),
        ("stuck", "threshold", "many"),
        ("stuck", "threshold", "2049"),
        ("failure_loop", "threshold", "0"),
        ("ping_pong", "window", "3"),
        ("ping_pong", "window", "100000"),
        ("loop", "window", "5"),
        ("loop", "window", "-20"),
        ("loop", "min_repeats", "1"),
        ("loop", "min_repeats", "7"),
        ("transition_repeat", "window", "5000"),
        ("transition_repeat", "repeats", "1"),
        ("transition_repeat", "repeats", "10"),
        ("transition_repeat", "neutralize_volatile", "on"),
        ("empty_response", "threshold", "1"),
        ("empty_response", "threshold", "17"),
        ("empty_response", "max_chars", "-1"),
        ("error_rate", "threshold", "0"),
        ("error_rate", "threshold", "50"),
        ("error_rate", "window", "1"),
        ("error_rate", "unit", "calls"),
        ("premature_victory", "clock_tolerance", "1h"),
        ("premature_victory", "clock_tolerance", "1"),
        ("stutter", "ngram", "3"),
        ("stutter", "max_entropy", "100"),
        ("stutter", "max_entropy", "-1"),
        ("stutter", "min_tokens", "1000000"),
        ("goal_drift", "window", "2"),
        ("goal_drift", "window", "100000"),
        ("scope_escape", "allowed_dirs", "/data"),
        ("write_storm", "limit", "0"),
        ("write_storm", "limit", "2000"),
        ("write_storm", "window", "0s"),
        ("novel_host", "known_hosts", "['*']"),
        ("novel_host", "allow_cidrs", "['0.0.0.0/0']"),
        ("novel_host", "preset", "all"),
        ("budget_steps", "max", "0"),
        ("budget_steps", "max", "-1"),
        ("budget_steps", "scope", "run"),
        ("budget_cost", "max_usd", "0"),
        ("budget_cost", "max_usd", "-5"),
        ("budget_cost", "scope", "run"),
        ("budget_time", "max", "0s"),
        ("budget_time", "max", "60"),
        ("budget_time", "idle", "0s"),
        ("budget_time", "scope", "run"),
    ];
    let types = detectors::Descriptor::ALL.map(|one| one.anomaly.name());
    let all = types
        .iter()
        .flat_map(|name| common.map(|(key, value)| (*name, key, value)));
    let mut checked = std::collections::BTreeSet::new();
    for (name, key, value) in all.chain(own) {
        checked.insert((name, key));
        for (over, line) in [(false, 5), (true, 8)] {
            // What decides how spans are read is refused in an override for that reason already.
            let reading = [("scope_escape", "allowed_dirs"), ("scope_escape", "rules")];
            let reading = reading
                .iter()
                .chain(&[("write_storm", "rules"), ("novel_host", "rules")]);
            if over && reading.into_iter().any(|one| *one == (name, key)) {
                continue;
            }
            let wrong = format!("{name}: {{{key}: {value}}}");
            let (first, second) = if over {
                ("loop: {}", wrong.as_str())
            } else {
                (wrong.as_str(), "stuck: {severity: info}")
            };
            let text = format!(
                "receivers: {{otlp: {{}}}}\nprocessors:\n  anomaly:\n    detectors:\n      {first}\n    \
                 overrides:\n      - match: {{service.name: x}}\n        detectors: {{{second}}}\n\
                 exporters: {{debug: {{}}}}\n\
                 service: {{pipelines: {{traces: {{receivers: [otlp], processors: [anomaly], exporters: [debug]}}}}}}\n"
            );
            let what = format!("{name}.{key}: {value} over={over}");
            let report = load(&text).expect_err(&what);
            let shown = report.to_string();
            let said: Vec<String> = report.lines().collect();
            let at = said
                .iter()
                .find(|said| said.starts_with(&format!("c.yaml:{line}:")))
                .unwrap_or_else(|| panic!("{what}: {shown}"));
            assert_eq!(report.errors(), 1, "{what}: {shown}");
            let named =
                at.contains(&format!("`{key}`")) || shown.contains(&format!("{key}: {value}"));
            assert!(named, "{what}: {shown}");
            let advised = [
                "allowed: ",
                "expected ",
                "write ",
                "set `enabled",
                "was meant",
                "none would be",
            ];
            assert!(
                advised.iter().any(|words| shown.contains(words)),
                "{what}: {shown}"
            );
        }
    }
    // The table of numbers has no key that is not tried here.
    for key in detectors::keys() {
        assert!(checked.contains(&(key.anomaly.name(), key.key)), "{key:?}");
    }
}

/// What the loader says of the keys of a processor, all lines.
fn said(keys: &str) -> String {
    match load(&anomaly(keys)) {
        Ok((_, warnings)) => warnings.to_string(),
        Err(report) => report.to_string(),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn what_cannot_work_is_refused() {
    for (keys, words) in [
        (
            "run: {max_steps: 0}",
            "`max_steps` is 0, must be at least 1",
        ),
        (
            "run: {max_steps: -1}",
            "expected a whole number of 1 or more, found -1",
        ),
        (
            "run: {idle_timeout: 0s}",
            "allowed: a duration of 1s or more",
        ),
        (
            "conversation: {idle_timeout: 0s}",
            "allowed: a duration of 1s or more",
        ),
        (
            "max_state: 7",
            "`max_state` is 7 bytes, must be at least 1MiB",
        ),
        ("settle: 1h", "`settle` is 1h, must be at most 10m"),
        ("workspace: {root: []}", "without a directory"),
        ("workspace: {root: /}", "`/` is everything there is"),
        (
            "workspace: {root: '~'}",
            "`~` stands for `workspace.home`, which is not set",
        ),
        (
            "workspace: {root: '~', home: /}",
            "`~` is everything there is",
        ),
        ("workspace: {root: 'C:\\'}", "is everything there is"),
        (
            "workspace: {root: [/a, infer]}",
            "nothing is ever inferred beside `/a`",
        ),
        ("workspace: {root: [/a, b]}", "no absolute"),
        (
            "workspace: {root: /a, home: b}",
            "`b` is no absolute directory",
        ),
        (
            "detectors: {scope_escape: {allowed_dirs: [/a, b/c]}}",
            "`b/c` is no absolute directory",
        ),
        (
            "detectors: {scope_escape: {allowed_dirs: [/]}}",
            "`/` is everything there is",
        ),
        (
            "detectors: {budget_time: {enabled: true}}",
            "`budget_time` has no limit",
        ),
        (
            "detectors: {budget_steps: {enabled: true, scope: agent}}",
            "`budget_steps` has no limit",
        ),
        (
            "detectors: {budget_cost: {enabled: true, max_usd: null}}",
            "`budget_cost` has no limit",
        ),
        (
            "detectors: {budget_time: {max: 1m, idle: 2m}}",
            "can never be reached",
        ),
        (
            "detectors: {stutter: {rules: source, ngram: 3}}",
            "allowed: 4 only",
        ),
        (
            "detectors: {stutter: {max_entropy: 1.5}}",
            "means nothing but with `rules: source`",
        ),
        (
            "detectors: {goal_drift: {enabled: true, rules: source}}",
            "means nothing but with `rules: aware`",
        ),
        (
            "annotate: {trace_url: 'https://x/{trace}'}",
            "there is no `{trace}` to fill in",
        ),
        ("annotate: {trace_url: 'x/{trace_id}'}", "is no URL"),
        (
            "annotate: {trace_url: 'https://x/'}",
            "every link would be the same",
        ),
        (
            "overrides: [{match: {tool: ''}, emit: off}]",
            "an empty text matches nothing",
        ),
        (
            "overrides: [{match: {service.name: x}}]",
            "this entry changes nothing",
        ),
        (
            "overrides: [{match: {service.name: x}, detectors: {stuck: {threshold: 3}}}]",
            "this entry changes nothing",
        ),
        (
            "overrides: [{match: {tool: x}, detectors: {stutter: {enabled: false}}}]",
            "this never applies",
        ),
        (
            "overrides: [{match: {tool: x}, detectors: {premature_victory: {emit: off}}}]",
            "this never applies",
        ),
        (
            "overrides: [{match: {tool: x}, stuck: {threshold: 5}}]",
            "detectors: {stuck: ...}",
        ),
        (
            "overrides: [{match: {tool: x}, threshold: 5}]",
            "detectors: {stuck: {threshold: ...}}",
        ),
        (
            "overrides: [{match: {}, tool: x, emit: off}]",
            "match: {tool: ...}",
        ),
        (
            "overrides: [{match: {}, emit: false}]",
            "did you mean `off`?",
        ),
        (
            "overrides: [{match: {service: x}, emit: off}]",
            "did you mean `service.name`?",
        ),
        (
            "overrides: [{match: {environment: x}, emit: off}]",
            "did you mean `deployment.environment.name`?",
        ),
        (
            "detectors: {stuck: {poll: true}}",
            "tools: {\"name\": {poll: ...}}",
        ),
        ("tools: {'': edit}", "an empty text matches nothing"),
    ] {
        let said = said(keys);
        assert!(said.contains(words), "{keys}: {said}");
    }
    for fine in [
        "max_held: 0",
        "workspace: {root: [infer, '/srv/{resource.a}']}",
        "workspace: {root: '~/work', home: /home/a}",
        "rules: source, workspace: {root: /a}, detectors: {scope_escape: {allowed_dirs: [' b']}, \
         write_storm: {limit: -1, window: 0s}, budget_steps: {max: 0}, budget_cost: {max_usd: 0}, \
         transition_repeat: {repeats: 10000}}",
        "overrides: [{match: {service.name: x}}, {match: {}, emit: off}]",
    ] {
        assert_eq!(said(fine), "", "{fine}");
    }
}

#[test]
fn a_wrong_glob_is_pointed_at() {
    let said = said("tools: {my_tool: edit, 'run_[': verify}");
    assert!(said.contains("c.yaml:3:47: `run_[` is no glob"), "{said}");
}

#[test]
fn all_of_an_ignored_finding_is_checked_at_once() {
    let keys = "ignore: [{until: tomorrow, reason: '', agent: '{a', services: x}, \
                {type: stuck, fingerprint: 9c1d0a77e4b2f031, service: '*'}, \
                {type: stuck, fingerprint: 9c1d0a77e4b2f031}]";
    let report = load(&anomaly(keys)).unwrap_err();
    for words in [
        "`type` is missing here",
        "`fingerprint` is missing here",
        "`tomorrow` is no date",
        "an empty `reason`",
        "`{a` is no glob",
        "unknown key `services`",
        "this finding is ignored already (by this entry: c.yaml:3:",
    ] {
        assert!(report.to_string().contains(words), "{words}: {report}");
    }
    assert_eq!(report.errors(), 7, "{report}");
}

/// Roles stand in one table: what is read, what a message lists, what the documentation lists.
#[test]
fn roles_are_the_same_everywhere() {
    let page = std::fs::read_to_string(root("docs/configuration.md")).unwrap();
    let listed = page
        .split("Roles: ")
        .nth(1)
        .unwrap()
        .split(". ")
        .next()
        .unwrap();
    let listed: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    assert_eq!(listed, Role::NAMES.map(|(name, _)| name));
    let said = said("tools: {mine: editor}").replace("\n          ", " ");
    let names = Role::NAMES.map(|(name, _)| name).join(", ");
    assert!(said.contains(&format!("allowed: {names}")), "{said}");
    for (name, role) in Role::NAMES {
        let (settings, _) = load(&anomaly(&format!("tools: {{mine: {name}}}"))).unwrap();
        assert_eq!(settings.steps.tools.of("mine"), Some(role));
    }
}

#[test]
fn what_is_printed_reads_back() {
    let text = anomaly(
        "settle: 0s, detectors: {stuck: {threshold: ${FIVE}, tools: {'a: b': {ignore: true}}}}",
    )
    .replace("${FIVE}", "'${FIVE}'");
    let sources = [Source::file("c.yaml", &text)];
    let printed = config::effective(&sources, &[], &env, config::Printing::default()).unwrap();
    insta::assert_snapshot!("printed", printed);
    let again = config::effective(
        &[Source::file("again", &printed)],
        &[],
        &env,
        config::Printing::default(),
    )
    .unwrap();
    assert_eq!(printed, again);
    let (settings, _) = load(&printed).unwrap();
    assert_eq!(settings.engine.detectors.stuck.threshold, 5);
}

/// All configurations that people copy: those shipped, and the complete ones that the documentation shows.
fn copied() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, sources) in shipped() {
        // A secret is not printed, so what is printed of these cannot be read back.
        let secret = |source: &Source| source.text.lines().any(|line| line.trim() == "headers:");
        if let [source] = &*sources
            && !secret(source)
        {
            all.push((name, source.text.clone()));
        }
    }
    for page in ["docs/configuration.md", "docs/operations.md", "README.md"] {
        let text = std::fs::read_to_string(root(page)).unwrap();
        let blocks = text.split("```yaml\n").skip(1);
        let blocks = blocks.map(|block| block.split("```").next().unwrap().to_owned());
        let whole = blocks.filter(|block| block.contains("receivers:"));
        all.extend(whole.map(|block| (page.to_owned(), block)));
    }
    all
}

#[test]
fn what_is_printed_means_the_same() {
    let mut all = copied();
    assert!(all.len() > 8, "{}", all.len());
    let keys = "detectors: {stutter: {min_tokens: 5}, stuck: {tools: {get_token: {threshold: 7}}}}, \
                tools: {read_secret: read, 'auth*': verify}, \
                overrides: [{match: {tool: 'reset_password', api.token: a}, detectors: {loop: {window: 9}}}]";
    all.push(("names like secrets".to_owned(), anomaly(keys)));
    for (name, text) in all {
        let before = load(&text).unwrap_or_else(|report| panic!("{name}: {report}"));
        let printed = config::effective(
            &[Source::file(&name, &text)],
            &[],
            &env,
            config::Printing::default(),
        )
        .unwrap();
        let after = load(&printed).unwrap_or_else(|report| panic!("{name}: {printed}\n{report}"));
        let shown = |loaded: &(Settings, Warnings)| format!("{:#?}", loaded.0);
        assert_eq!(shown(&before), shown(&after), "{name}: {printed}");
        let secret = text.contains("bearertokenauth: {tokens:");
        assert_eq!(printed.contains("***"), secret, "{name}: {printed}");
    }
}

/// With everything written down that holds by default, nothing changes.
#[test]
fn defaults_that_are_printed_mean_the_same() {
    let printing = config::Printing {
        defaults: true,
        ..config::Printing::default()
    };
    for (name, text) in copied() {
        let sources = [Source::file(&name, &text)];
        let printed = config::effective(&sources, &[], &env, printing).unwrap();
        if printed.contains("***") {
            continue;
        }
        let shown = |text: &str| {
            let loaded = load(text).unwrap_or_else(|report| panic!("{name}: {text}\n{report}"));
            let mut settings = loaded.0;
            // What is written of a detector is shown as written.
            settings.rules.clear();
            // Unset it is 60 under aware rules, and as the source has it under those.
            let overrides = settings.engine.overrides.iter_mut();
            let tables = overrides.map(|one| &mut one.settings);
            for table in tables.chain([&mut settings.engine.detectors]) {
                table.stutter.min_tokens.get_or_insert(60);
            }
            let metrics = &mut settings.telemetry.metrics;
            if metrics.readers.is_empty() {
                metrics.address.get_or_insert("localhost:8888".to_owned());
            }
            format!("{settings:#?}")
        };
        let (before, after) = (shown(&text), shown(&printed));
        let mut lines = before.lines().zip(after.lines());
        let apart = lines.find(|(before, after)| before != after);
        assert_eq!(apart, None, "{name}: {printed}");
        for anomaly in agent_sentinel::model::AnomalyType::ALL {
            let there = !printed.contains("anomaly:") || printed.contains(&format!(" {anomaly}:"));
            assert!(there, "{anomaly} in {printed}");
        }
    }
}

#[test]
fn defaults_of_a_processor_that_is_only_named_are_printed() {
    let text = "receivers: {otlp: {}}\nexporters: {debug: {}}\nservice: {pipelines: {traces: {receivers: [otlp], \
                processors: [anomaly], exporters: [debug]}}}";
    let printing = config::Printing {
        defaults: true,
        ..config::Printing::default()
    };
    let printed = config::effective(&[Source::file("a.yaml", text)], &[], &env, printing).unwrap();
    assert!(printed.contains("max_held:"), "{printed}");
    assert!(load(&printed).is_ok(), "{printed}");
}

#[test]
fn where_each_value_comes_from_is_printed() {
    let text = "receivers:\n  otlp: {}\nexporters:\n  debug:\n    verbosity: ${env:LOUD:-basic}\n";
    let more =
        "exporters: {debug: {verbosity: detailed}, otlp: {endpoint: 'b:${FIVE}', headers: {k: v}}}";
    let sources = [Source::file("a.yaml", text), Source::file("b.yaml", more)];
    let set = [("service.shutdown.timeout".to_owned(), "3s".to_owned())];
    let printing = config::Printing {
        origin: true,
        ..config::Printing::default()
    };
    let printed = config::effective(&sources, &set, &env, printing).unwrap();
    insta::assert_snapshot!("origin", printed);
    let printing = config::Printing {
        defaults: true,
        origin: true,
        ..printing
    };
    let printed = config::effective(&sources[..1], &set, &env, printing).unwrap();
    insta::assert_snapshot!("origin_and_defaults", printed);
}

#[test]
fn json_means_what_yaml_means() {
    let printing = config::Printing {
        json: true,
        ..config::Printing::default()
    };
    for (name, text) in copied() {
        let sources = [Source::file(&name, &text)];
        let printed = config::effective(&sources, &[], &env, printing).unwrap();
        serde_json::from_str::<serde_json::Value>(&printed).unwrap();
        if !printed.contains("***") && !printed.contains('$') {
            let shown = |text: &str| format!("{:#?}", load(text).unwrap().0.engine);
            assert_eq!(shown(&text), shown(&printed), "{name}");
        }
    }
}

#[test]
fn secrets_are_not_printed() {
    let text = "exporters: {otlp: {endpoint: 'a:1', headers: {authorization: 'Bearer ${TOKEN}', n: [hunter2]}}}";
    let printed = config::effective(
        &[Source::file("c", text)],
        &[],
        &env,
        config::Printing::default(),
    )
    .unwrap();
    assert!(!printed.contains("hunter2"), "{printed}");
    assert!(printed.contains("authorization: \"***\""), "{printed}");
}

#[test]
fn depth_and_size_are_bounded() {
    for text in [
        "[".repeat(5000),
        "{a: ".repeat(5000),
        "a:\nx".to_owned() + &"- ".repeat(3000),
        "x".repeat(2 << 20),
        format!("a: &a [1]\n{}", "b: &a [*a]\n".repeat(3000)),
        (0..2000)
            .map(|i| format!("k{i}: &a{i} [*a{}]\n", i.max(1) - 1))
            .collect::<String>(),
        "? ".repeat(5000),
        "&a ".repeat(5000),
        "!!map ".repeat(5000),
    ] {
        let report = load(&text).unwrap_err();
        assert!(report.errors() > 0);
        let _ = report.to_string();
    }
    let path = "a.".repeat(100_000) + "b";
    assert!(set(&anomaly(""), &[(&path, "1")]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = load(&text).map_err(|report| report.to_string());
    }

    /// Made of what YAML and our references are made of.
    #[test]
    fn no_yaml_like_text_panics(parts in proptest::collection::vec(
        proptest::sample::select(vec![
            "receivers", "processors", "exporters", "service", "pipelines", "traces", "anomaly", "otlp", "detectors",
            "stuck", "threshold", ": ", ":", "\n", "\n  ", "\n    ", "\n      ", "- ", "{", "}", "[", "]", ", ", "&a ", "*a",
            "<<", "'", "\"", "|", ">", "#", "!!str ", "!x ", "${env:FIVE}", "${", "$$", "?", "---\n", "\t", "null", "5", "é", "\r\n", "%YAML 1.2\n",
        ]), 0..60)) {
        let text = parts.concat();
        let _ = load(&text).map_err(|report| report.to_string());
    }

    /// A shipped configuration with one stretch cut out, doubled or replaced.
    #[test]
    fn no_damage_to_a_good_file_panics(from in 0usize..2000, length in 0usize..40, with in "[ -~\n]{0,6}") {
        let (_, mut text) = files("tests/bad-config").swap_remove(0);
        for (_, more) in files("collector-config") {
            text = more;
        }
        let from = from % (text.len() + 1);
        let to = (from + length).min(text.len());
        if text.is_char_boundary(from) && text.is_char_boundary(to) {
            text.replace_range(from..to, &with);
        }
        let _ = load(&text).map_err(|report| report.to_string());
    }
}
