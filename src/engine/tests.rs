//! The engine's rules, each with its test: DESIGN 3.3 to 3.10.

use std::time::Duration;

use crate::model::{
    Action, AnomalyType, Carrier, Claim, Failure, Link, Outcome, Selection, Step, Timestamp,
    Verdict,
};
use crate::sessions::{CloseReason, Settle, Turn};

use super::testing::{Bench, answer, call, edit, ms, reading, root, span, test_run, trace};
use super::{Answer, Mode, Query};

fn same(trace: u8, from: u32, count: u32) -> Vec<Step> {
    (0..count)
        .map(|n| call(trace, from + n, 100 * u64::from(n + 1), "read a", "x"))
        .collect()
}

#[test]
fn a_clean_body_leaves_as_the_very_buffer() {
    let mut bench = Bench::new(|_| {});
    bench.send(500, &[call(1, 1, 100, "a", "x"), call(1, 2, 200, "b", "y")]);
    let release = &bench.out.releases[0];
    assert_eq!(
        (release.spans.clone(), release.count, release.patches.len()),
        (Selection::All, 2, 0)
    );
    assert_eq!(bench.reports(), [""; 0]);
}

#[test]
fn the_third_equal_call_is_marked_in_its_own_request() {
    let mut bench = Bench::new(|_| {});
    bench.send(1000, &same(1, 1, 3));
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    assert_eq!(bench.out.reports[0].carrier, Carrier::Span(span(3)));
    assert_eq!(bench.out.releases.len(), 1);
    assert_eq!(bench.out.releases[0].patches[0].span, 2);
    assert_eq!(bench.out.releases[0].count, 3);
}

#[test]
fn batching_changes_nothing() {
    let steps = same(1, 1, 7);
    let mut whole = Bench::new(|_| {});
    whole.send(2000, &steps);
    let mut single = Bench::new(|_| {});
    for (at, step) in steps.iter().enumerate() {
        single.send(100 * (at as u64 + 1), std::slice::from_ref(step));
    }
    assert_eq!(whole.reports(), single.reports());
    assert_eq!(whole.reports(), ["stuck opened @3", "stuck raised @6"]);
    assert_eq!(single.released(), 7);
}

#[test]
fn a_request_larger_than_a_lane_is_judged_whole() {
    let mut bench = Bench::new(|_| {});
    let mut steps = same(1, 1, 3);
    steps.extend(
        (4..200).map(|n| call(1, n, 100 * u64::from(n), &format!("k{n}"), &format!("x{n}"))),
    );
    bench.send(30_000, &steps);
    assert_eq!(bench.reports(), ["stuck opened @3"]);

    let mut bench = Bench::new(|_| {});
    let mut steps = vec![answer(1, 1, 100, " ", Claim::None)];
    steps.extend(
        (2..100).map(|n| answer(1, n, 100 * u64::from(n), &format!("say {n}"), Claim::None)),
    );
    bench.send(30_000, &steps);
    assert_eq!(bench.reports(), ["empty_response opened @1"]);

    let mut bench = Bench::new(|_| {});
    let mut steps = vec![
        edit(1, 1, 100, "edit a"),
        answer(1, 2, 200, "All tests pass.", Claim::ChecksPassed),
    ];
    steps.extend((3..100).map(|n| test_run(1, n, 100 * u64::from(n) - 20, 100 * u64::from(n))));
    bench.send(30_000, &steps).advance(60_000);
    let claim = "premature_victory opened @2".to_owned();
    assert!(
        bench.reports().contains(&claim),
        "no later run proves an earlier claim"
    );
    let Answer::Status(status) = bench.engine.ask(&Query::Status) else {
        panic!()
    };
    assert!(status.state_bytes < 60_000, "{status:?}");
}

#[test]
fn a_step_that_comes_late_is_inserted_at_its_place() {
    let mut bench = Bench::new(|s| s.sessions.settle = Settle::Fixed(Duration::from_secs(2)));
    let steps = same(1, 1, 3);
    bench.send(300, &[steps[0].clone(), steps[2].clone()]);
    bench.send(400, &[steps[1].clone()]);
    bench.advance(5000);
    assert_eq!(
        bench.reports(),
        ["stuck opened @3"],
        "judged as of the third call's own time"
    );
}

#[test]
fn only_the_accused_are_held_and_leave_when_settled() {
    let mut bench = Bench::new(|s| s.sessions.settle = Settle::Fixed(Duration::from_secs(2)));
    bench.send(300, &same(1, 1, 3));
    assert_eq!(bench.released(), 2, "the third waits");
    let Answer::Status(status) = bench.engine.ask(&Query::Status) else {
        panic!()
    };
    assert_eq!((status.held_spans, status.held_bytes), (1, 300));
    bench.advance(2299);
    assert_eq!(bench.released(), 2);
    bench.advance(2300);
    assert_eq!((bench.released(), bench.patched()), (3, 1));
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    let Answer::Status(status) = bench.engine.ask(&Query::Status) else {
        panic!()
    };
    assert_eq!((status.held_spans, status.held_bytes), (0, 0));
}

#[test]
fn an_accused_span_that_proves_innocent_leaves_unmarked() {
    let mut bench = Bench::new(|s| s.sessions.settle = Settle::Fixed(Duration::from_secs(2)));
    bench.send(400, &same(1, 1, 3));
    // An edit of unknown target resets nothing, but another answer to the same call does.
    let mut between = call(1, 9, 250, "read a", "y");
    between.start = ms(240);
    bench.send(450, &[between]);
    bench.advance(5000);
    assert_eq!(bench.reports(), [""; 0]);
    assert_eq!((bench.released(), bench.patched()), (4, 0));
}

#[test]
fn what_proves_guilty_after_its_span_left_is_a_late_finding() {
    let mut bench = Bench::new(|s| s.sessions.settle = Settle::Fixed(Duration::from_secs(2)));
    let steps = same(1, 1, 4);
    bench.send(300, &[steps[0].clone(), steps[3].clone()]);
    assert_eq!(bench.released(), 2);
    bench.send(350, &[steps[1].clone()]);
    bench.send(360, &[steps[2].clone()]);
    bench.advance(9000);
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    assert_eq!(bench.released(), 4, "nothing is lost, nothing is doubled");
}

/// The fourth of four equal calls is judged innocent and leaves; the two before it come too late for it.
fn late(bench: &mut Bench) {
    let mut steps = same(1, 1, 4);
    for step in &mut steps {
        step.resource = 9;
    }
    let mut first = reading(&[steps[0].clone(), steps[3].clone()]);
    let json = br#"{"resourceSpans":[{"resource":{"attributes":[
        {"key":"service.name","value":{"stringValue":"agents"}},{"key":"host.name","value":{"stringValue":"h"}}]},
        "scopeSpans":[{"spans":[{"traceId":"0000000000000000000000000000000a","spanId":"0000000000000001"}]}]}]}"#;
    let mut sender = Vec::new();
    crate::otlp::read(crate::otlp::transcode(json).unwrap(), |seen| {
        sender = seen.resource.encode();
    })
    .unwrap();
    first.resources = vec![(9, sender.into())];
    bench.engine.ingest(first, ms(400), &mut bench.out);
    bench.send(450, &steps[1..3]).advance(9000);
}

#[test]
fn a_late_finding_leaves_as_a_span_of_our_own() {
    let mut bench = Bench::new(|_| {});
    late(&mut bench);
    assert_eq!((bench.released(), bench.synthetic()), (4, 1));
    assert_eq!(bench.engine.counters().synthetic_spans, 1);
    let made = bench.out.releases.iter().find(|r| r.synthetic).unwrap();
    let Carrier::Synthetic(id) = bench.out.reports[0].carrier else {
        panic!("{:?}", bench.out.reports)
    };
    let judged = *bench.out.reports[0].finding.judged().unwrap();
    crate::otlp::read(made.body.clone(), |seen| {
        let span = seen.span;
        assert_eq!(
            (span.span_id(), span.parent_span_id()),
            (id, Some(judged.span))
        );
        assert_eq!((span.trace_id(), span.name()), (trace(1), "anomaly stuck"));
        assert_eq!((span.start(), span.end()), (judged.end, judged.end));
        let text = |key| span.attribute(key).and_then(|value| value.as_str());
        assert_eq!(text("sentinel.anomaly.type"), Some("stuck"));
        assert!(span.attribute("sentinel.synthetic").is_some());
        assert_eq!(span.events().count(), 1);
        let host = seen.resource.attribute("host.name").unwrap();
        assert_eq!(
            host.as_str(),
            Some("h"),
            "the resource is the accused span's"
        );
    })
    .unwrap();
}

#[test]
fn a_finding_links_to_the_accused_span_where_a_template_is_given() {
    let link = |template: &str| {
        let mut bench = Bench::new(|s| s.annotate.trace_url = template.to_owned());
        late(&mut bench);
        let judged = *bench.out.reports[0].finding.judged().unwrap();
        let made = bench.out.releases.iter().find(|r| r.synthetic).unwrap();
        let mut link = None;
        crate::otlp::read(made.body.clone(), |seen| {
            let value = seen.span.attribute("sentinel.anomaly.trace_url");
            link = value.and_then(|value| value.as_str().map(str::to_owned));
        })
        .unwrap();
        (link, judged)
    };
    let (wanted, judged) = link("https://jaeger.example/trace/{trace_id}?uiFind={span_id}");
    let (trace, span) = (judged.trace, judged.span);
    assert_eq!(
        wanted.unwrap(),
        format!("https://jaeger.example/trace/{trace}?uiFind={span}")
    );
    assert_eq!(link("").0, None);
}

/// The third of three equal calls as it leaves: its own fields are two ids, what follows is ours.
fn marked(
    change: impl Fn(&mut super::Settings),
    status_unset: bool,
) -> opentelemetry_proto::tonic::trace::v1::Span {
    let mut bench = Bench::new(change);
    let mut steps = same(1, 1, 3);
    steps[2].status_unset = status_unset;
    bench.send(1000, &steps);
    let patch = bench.out.releases[0].patches[0].bytes.clone();
    prost::Message::decode(patch).unwrap()
}

#[test]
fn an_unset_status_becomes_an_error_where_that_is_wanted() {
    use crate::annotations::StatusPolicy;
    let of = |policy, unset| marked(|s| s.annotate.status = policy, unset);
    let has = |span: &opentelemetry_proto::tonic::trace::v1::Span| {
        let mut keys = span.attributes.iter().map(|a| a.key.as_str());
        keys.any(|key| key == "sentinel.anomaly.status_set")
    };
    for (policy, unset) in [
        (StatusPolicy::Leave, true),
        (StatusPolicy::ErrorIfUnset, false),
    ] {
        let span = of(policy, unset);
        assert_eq!(span.status, None, "{policy:?} {unset}");
        assert!(!has(&span));
    }
    let span = of(StatusPolicy::ErrorIfUnset, true);
    let status = span.status.as_ref().unwrap();
    assert_eq!(status.code, 2);
    assert!(status.message.contains("read"), "{}", status.message);
    assert!(has(&span));
    let note = marked(
        |s| {
            s.annotate.status = StatusPolicy::ErrorIfUnset;
            s.detectors.stuck.severity = Some(crate::model::Severity::Info);
        },
        true,
    );
    assert_eq!((note.status, note.events.len()), (None, 1));
}

#[test]
fn a_finding_is_told_as_an_evaluation_too_where_that_is_wanted() {
    let span = marked(|s| s.annotate.emit_evaluation_event = true, true);
    let names: Vec<&str> = span.events.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["sentinel.anomaly", "gen_ai.evaluation.result"]);
    let said: Vec<&str> = span.events[1]
        .attributes
        .iter()
        .map(|a| a.key.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "gen_ai.evaluation.name",
            "gen_ai.evaluation.score.label",
            "gen_ai.evaluation.explanation"
        ]
    );
    assert_eq!(marked(|_| {}, true).events.len(), 1);
}

#[test]
fn the_same_late_finding_makes_the_same_bytes() {
    let made = || {
        let mut bench = Bench::new(|_| {});
        late(&mut bench);
        let made = bench.out.releases.iter().find(|r| r.synthetic);
        made.unwrap().body.clone()
    };
    assert_eq!(made(), made());
}

#[test]
fn with_late_log_no_span_is_made() {
    let mut bench = Bench::new(|s| s.annotate.late = crate::annotations::LatePolicy::Log);
    late(&mut bench);
    assert_eq!((bench.released(), bench.synthetic()), (4, 0));
    assert_eq!(bench.reports().len(), 1);
    let judged = bench.out.reports[0].finding.judged().unwrap().span;
    assert_eq!(bench.out.reports[0].carrier, Carrier::Log(judged));
}

/// The log records that came out, as others read them.
fn records(bench: &Bench) -> Vec<opentelemetry_proto::tonic::logs::v1::ResourceLogs> {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    let joined = bench.out.records.concat();
    let request: ExportLogsServiceRequest = prost::Message::decode(joined.as_slice()).unwrap();
    request.resource_logs
}

#[test]
fn a_late_finding_leaves_as_a_log_record_where_logs_are_taken() {
    use crate::annotations::LatePolicy;
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    let of = |policy, logs| {
        let mut bench = Bench::new(|s| {
            s.annotate.late = policy;
            s.logs = logs;
        });
        late(&mut bench);
        assert_eq!((bench.released(), bench.reports().len()), (4, 1));
        let counted = bench.engine.counters().log_records as usize;
        assert_eq!(counted, bench.out.records.len());
        (bench.synthetic(), bench.out.records.len(), bench)
    };
    for (policy, logs, spans, made) in [
        (LatePolicy::Auto, false, 1, 0),
        (LatePolicy::Auto, true, 0, 1),
        (LatePolicy::Log, true, 0, 1),
        (LatePolicy::Log, false, 0, 0),
        (LatePolicy::Span, true, 1, 0),
    ] {
        let (synthetic, records, _) = of(policy, logs);
        assert_eq!((synthetic, records), (spans, made), "{policy:?} {logs}");
    }
    let (.., bench) = of(LatePolicy::Auto, true);
    let report = &bench.out.reports[0];
    let judged = *report.finding.judged().unwrap();
    assert_eq!(report.carrier, Carrier::Log(judged.span));
    let logs = records(&bench);
    let resource = logs[0].resource.as_ref().unwrap();
    let host = &resource.attributes[1];
    assert_eq!(host.key, "host.name", "the resource is the accused span's");
    let scope = &logs[0].scope_logs[0];
    assert_eq!(scope.scope.as_ref().unwrap().name, "sentinel");
    let record = &scope.log_records[0];
    assert_eq!(record.event_name, "sentinel.anomaly");
    assert_eq!(record.trace_id, judged.trace.as_bytes());
    assert_eq!(record.span_id, judged.span.as_bytes());
    assert_eq!(record.time_unix_nano, report.at.nanos());
    assert!(record.observed_time_unix_nano >= record.time_unix_nano);
    assert_eq!(i64::from(record.severity_number), report.severity.number());
    assert_eq!(record.severity_text, report.severity.name());
    let body = record.body.as_ref().unwrap().value.as_ref().unwrap();
    assert!(matches!(body, Value::StringValue(text) if **text == *report.finding.message));
    let keys: Vec<&str> = record.attributes.iter().map(|a| a.key.as_str()).collect();
    let mut once = keys.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), keys.len(), "each key once: {keys:?}");
    for key in [
        "detected",
        "stuck",
        "type",
        "fingerprint",
        "episode",
        "steps",
        "span_ids",
    ] {
        let key = format!("sentinel.anomaly.{key}");
        assert!(keys.contains(&key.as_str()), "{key}: {keys:?}");
    }
    assert!(keys.contains(&"sentinel.waste.calls"), "{keys:?}");
}

#[test]
fn what_is_on_trial_or_accepted_is_no_record() {
    let mut bench = Bench::new(|s| {
        s.logs = true;
        s.mode = Mode::Observe;
        s.detectors.stuck.emit = Some(crate::model::Emit::Metric);
    });
    bench.send(400, &same(1, 1, 4)).advance(9000);
    assert_eq!((bench.out.quiet.len(), bench.out.records.len()), (1, 0));
}

#[test]
fn a_second_copy_of_a_span_is_forwarded_and_not_observed() {
    let mut bench = Bench::new(|_| {});
    let steps = same(1, 1, 2);
    bench.send(300, &steps).send(400, &steps).send(500, &steps);
    assert_eq!(bench.reports(), [""; 0]);
    assert_eq!(bench.released(), 6);
    assert_eq!(bench.engine.counters().duplicate_spans, 4);
}

#[test]
fn a_second_copy_of_a_marked_span_gets_the_same_patch() {
    let mut bench = Bench::new(|_| {});
    let steps = same(1, 1, 3);
    bench.send(300, &steps).send(400, &steps[2..]);
    let patches: Vec<_> = bench
        .out
        .releases
        .iter()
        .flat_map(|r| r.patches.clone())
        .collect();
    assert_eq!(patches.len(), 2);
    assert_eq!(patches[0].bytes, patches[1].bytes);
}

#[test]
fn two_instrumentations_of_one_call_are_one_step() {
    let mut bench = Bench::new(|_| {});
    let mut steps = Vec::new();
    for n in 0..2u32 {
        let first = call(1, 10 + n, 100 * u64::from(n + 1), "read a", "x");
        let mut second = first.clone();
        second.span = span(20 + n);
        second.scope = 2;
        steps.extend([first, second]);
    }
    bench.send(500, &steps);
    assert_eq!(bench.reports(), [""; 0]);
    assert_eq!(bench.engine.counters().second_spans, 2);
}

#[test]
fn runs_of_one_conversation_share_the_ledger_and_not_the_lane() {
    let mut bench = Bench::new(|_| {});
    let with = |mut step: Step| {
        step.conversation = Some("c".into());
        step
    };
    bench.send(300, &[with(edit(1, 1, 100, "edit a"))]);
    let claim = answer(2, 2, 900, "All tests pass.", Claim::ChecksPassed);
    bench.send(1000, &[with(claim)]).advance(2000);
    assert_eq!(bench.reports(), ["premature_victory opened @2"]);
    assert_eq!(&*bench.out.reports[0].session, "c");
}

#[test]
fn the_freshness_run_in_five_steps() {
    let mut bench = Bench::new(|_| {});
    bench.send(1450, &[edit(1, 1, 1450, "edit a")]);
    bench.send(2800, &[edit(1, 2, 2800, "edit b")]);
    bench.send(
        3000,
        &[answer(
            1,
            3,
            3000,
            "Fixed, all tests pass.",
            Claim::ChecksPassed,
        )],
    );
    assert_eq!(bench.released(), 2, "the claim is held");
    bench.advance(3500);
    assert_eq!(bench.reports(), ["premature_victory opened @3"]);
    bench.send(4100, &[test_run(1, 4, 3900, 4100)]);
    bench.send(
        4300,
        &[answer(
            1,
            5,
            4300,
            "All tests pass now.",
            Claim::ChecksPassed,
        )],
    );
    bench.advance(9000);
    assert_eq!(bench.reports(), ["premature_victory opened @3"]);
    assert_eq!((bench.released(), bench.patched()), (5, 1));
}

#[test]
fn a_proof_that_arrives_within_settle_clears_the_claim() {
    let mut bench = Bench::new(|_| {});
    bench.send(1450, &[edit(1, 1, 1450, "edit a")]);
    bench.send(
        3000,
        &[answer(1, 3, 3000, "All tests pass.", Claim::ChecksPassed)],
    );
    bench
        .send(3200, &[test_run(1, 4, 2500, 2900)])
        .advance(9000);
    assert_eq!(bench.reports(), [""; 0]);
}

#[test]
fn the_span_of_the_run_takes_the_mark_of_its_last_answer() {
    let mut bench = Bench::new(|_| {});
    let words = "Done, all tests pass.";
    bench.send(1450, &[edit(1, 1, 1450, "edit a")]);
    bench.send(3000, &[answer(1, 3, 3000, words, Claim::ChecksPassed)]);
    bench.send(3100, &[root(1, 4, 1000, 3050, words, Claim::ChecksPassed)]);
    bench.advance(9000);
    assert_eq!(bench.reports(), ["premature_victory opened @4"]);
    assert_eq!((bench.released(), bench.patched()), (3, 1));
}

#[test]
fn the_span_of_an_agent_tells_of_its_run_as_it_passes() {
    let mut bench = Bench::new(|_| {});
    bench.send(300, &same(1, 1, 3));
    bench.send(900, &[root(1, 9, 50, 800, "I give up.", Claim::None)]);
    assert_eq!((bench.released(), bench.patched()), (4, 2));
}

#[test]
fn a_run_closes_two_seconds_after_its_root_and_stragglers_do_not_reopen_it() {
    let mut bench = Bench::new(|_| {});
    bench.send(300, &same(1, 1, 1));
    bench.send(900, &[root(1, 9, 50, 800, "Bye.", Claim::None)]);
    bench.advance(2899);
    assert!(bench.out.closed.is_empty());
    bench.advance(2900);
    assert_eq!(bench.out.closed[0].reason, CloseReason::RootEnded);
    assert_eq!(bench.out.closed[0].steps, 2);
    bench.send(3000, &[call(1, 20, 700, "z", "z")]);
    assert_eq!(bench.engine.counters().late_steps, 1);
    assert_eq!(bench.engine.ask(&Query::Run(trace(1))), Answer::Run(None));
    assert_eq!(bench.released(), 3);
}

#[test]
fn an_idle_run_closes() {
    let mut bench = Bench::new(|_| {});
    bench.send(300, &same(1, 1, 1)).advance(300 + 599_999);
    assert!(bench.out.closed.is_empty());
    bench.advance(300 + 600_000);
    assert_eq!(bench.out.closed[0].reason, CloseReason::Idle);
}

#[test]
fn memory_is_bounded_and_the_longest_idle_goes_first() {
    let mut bench = Bench::new(|s| s.sessions.max_state = 20_000);
    for n in 1..=100u8 {
        bench.send(u64::from(n) * 1000, &[call(n, 1, 100, "a", "x")]);
        let Answer::Status(status) = bench.engine.ask(&Query::Status) else {
            panic!()
        };
        assert!(status.state_bytes <= 30_000, "{status:?}");
    }
    assert_eq!(bench.out.closed[0].trace, trace(1));
    assert!(
        bench
            .out
            .closed
            .iter()
            .all(|closed| closed.reason == CloseReason::Memory)
    );
    assert_eq!(bench.released(), 100);
}

#[test]
fn a_step_from_the_future_moves_no_clock() {
    let mut bench = Bench::new(|_| {});
    let mut ahead = call(1, 50, 100, "odd", "x");
    ahead.end = ms(86_400_000);
    bench.send(100, &[ahead]);
    bench.send(300, &same(1, 1, 3));
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    assert!(bench.out.closed.is_empty());
}

#[test]
fn steps_of_two_agents_do_not_add_up() {
    let mut bench = Bench::new(|_| {});
    let by = |agent: &str, mut step: Step| {
        step.agent = Some(agent.into());
        step
    };
    let steps: Vec<_> = ["a", "b", "c"]
        .iter()
        .enumerate()
        .map(|(n, agent)| by(agent, same(1, n as u32 + 1, 3)[n].clone()))
        .collect();
    bench.send(500, &steps);
    assert_eq!(bench.reports(), [""; 0]);
}

#[test]
fn an_agent_span_names_its_descendants_however_late_it_comes() {
    let mut bench = Bench::new(|_| {});
    let under = |parent: u32, mut step: Step| {
        step.parent = Some(span(parent));
        step
    };
    // Three agents, one after another, each makes the same call once; their spans come last.
    let steps: Vec<_> = (0..3u32)
        .map(|n| under(100 + n, same(1, n + 1, 3)[n as usize].clone()))
        .collect();
    bench.send(400, &steps);
    assert_eq!(
        bench.released(),
        2,
        "a finding over parents not yet seen waits for them"
    );
    let agents: Vec<_> = (0..3u32)
        .map(|n| {
            let mut agent = root(
                1,
                100 + n,
                100 * u64::from(n) + 50,
                401 + u64::from(n),
                "ok",
                Claim::None,
            );
            agent.parent = Some(span(7));
            agent.agent = Some(format!("agent {n}").as_str().into());
            agent
        })
        .collect();
    bench.send(500, &agents).advance(20_000);
    assert_eq!(bench.reports(), [""; 0]);
    assert_eq!(bench.released(), 6);
}

#[test]
fn a_finding_over_unseen_parents_stands_when_nobody_claims_the_steps() {
    let mut bench = Bench::new(|_| {});
    let steps: Vec<_> = same(1, 1, 3)
        .into_iter()
        .enumerate()
        .map(|(n, mut step)| {
            step.parent = Some(span(200 + n as u32));
            step
        })
        .collect();
    bench.send(400, &steps).advance(6_399);
    assert_eq!(bench.reports(), [""; 0]);
    bench.advance(6_400);
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    assert_eq!((bench.released(), bench.patched()), (3, 1));
}

#[test]
fn parents_that_no_dialect_knows_are_seen_with_the_first_request_of_a_run() {
    let mut bench = Bench::new(|_| {});
    let mut steps = same(1, 1, 3);
    let mut links = Vec::new();
    for (n, step) in (0..).zip(&mut steps) {
        step.parent = Some(span(200 + n));
        links.push(Link {
            trace: step.trace,
            span: span(200 + n),
            parent: span(300),
        });
    }
    let mut request = reading(&steps);
    request.links = links;
    request.spans = 6;
    bench.engine.ingest(request, ms(400), &mut bench.out);
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    assert_eq!((bench.released(), bench.patched()), (6, 1));
    assert_eq!(bench.engine.counters().runs_opened, 1);
}

#[test]
fn visibly_concurrent_unnamed_steps_count_per_parent() {
    let mut bench = Bench::new(|_| {});
    let mut steps = Vec::new();
    for n in 0..3u32 {
        let mut step = call(1, n + 1, 100, "read a", "x");
        step.parent = Some(span(300 + n));
        steps.push(step);
    }
    bench.send(400, &steps).advance(60_000);
    assert_eq!(bench.reports(), [""; 0]);
    bench.drain(61_000);
    let lacks = &bench.out.closed[0].not_assessed;
    assert!(
        lacks
            .iter()
            .any(|(_, lacks)| lacks.iter().any(|l| l.words() == "lane unknown"))
    );
}

#[test]
fn a_new_trace_is_a_new_turn_unless_told_otherwise() {
    let in_trace = |n: u8| {
        let mut step = call(n, u32::from(n), 100 * u64::from(n), "read a", "x");
        step.conversation = Some("c".into());
        step
    };
    let steps: Vec<_> = (1..=3).map(in_trace).collect();
    let mut by_trace = Bench::new(|_| {});
    by_trace.send(500, &steps);
    assert_eq!(by_trace.reports(), [""; 0]);
    let mut by_conversation = Bench::new(|s| s.sessions.turn = Turn::Conversation);
    by_conversation.send(500, &steps);
    assert_eq!(by_conversation.reports(), ["stuck opened @3"]);
}

#[test]
fn a_growing_number_of_user_messages_is_a_new_turn() {
    let mut bench = Bench::new(|_| {});
    let asked = |span_n: u32, end: u64, count: u32| {
        let mut step = answer(1, span_n, end, "Hm.", Claim::None);
        if let Action::ModelCall(model) = &mut step.action {
            model.user_messages = Some(count);
        }
        step
    };
    let calls = same(1, 1, 3);
    bench.send(
        500,
        &[
            asked(50, 20, 1),
            calls[0].clone(),
            calls[1].clone(),
            asked(51, 250, 2),
            calls[2].clone(),
        ],
    );
    assert_eq!(bench.reports(), [""; 0]);
}

#[test]
fn a_second_resource_makes_findings_wait_six_seconds() {
    let mut bench = Bench::new(|_| {});
    let mut steps = same(1, 1, 3);
    steps[1].resource = 2;
    bench.send(300, &steps);
    assert_eq!(bench.released(), 2);
    bench.advance(6299);
    assert_eq!(bench.reports(), [""; 0]);
    bench.advance(6300);
    assert_eq!(bench.reports(), ["stuck opened @3"]);
}

#[test]
fn held_bytes_are_bounded_and_the_oldest_is_judged_at_once() {
    let mut bench = Bench::new(|s| {
        s.sessions.settle = Settle::Fixed(Duration::from_secs(60));
        s.sessions.max_held = 500;
    });
    bench.send(300, &same(1, 1, 3));
    bench.send(400, &same(2, 1, 3));
    assert_eq!(
        bench.reports(),
        ["stuck opened @3"],
        "the first run's, judged early"
    );
    assert_eq!(bench.engine.counters().held_over_limit, 1);
    assert_eq!(bench.released(), 5);
    bench.drain(500);
    assert_eq!(bench.released(), 6);
    assert_eq!(bench.reports().len(), 2);
}

#[test]
fn observe_mode_never_touches_or_holds_a_span() {
    let mut bench = Bench::new(|s| {
        s.logs = true;
        s.mode = Mode::Observe;
        s.sessions.settle = Settle::Fixed(Duration::from_secs(2));
    });
    bench.send(300, &same(1, 1, 3));
    assert_eq!((bench.released(), bench.patched()), (3, 0));
    bench.advance(9000);
    assert_eq!(bench.reports(), ["stuck opened @3"]);
    assert_eq!(bench.out.reports[0].carrier, Carrier::Log(span(3)));
    assert_eq!(bench.released(), 3);
    let logs = records(&bench);
    let record = &logs[0].scope_logs[0].log_records[0];
    assert_eq!(record.span_id, span(3).as_bytes());
    assert_eq!((logs.len(), bench.engine.counters().late_reports), (1, 0));
}

#[test]
fn a_run_with_too_many_steps_is_forwarded_and_not_judged() {
    let mut bench = Bench::new(|s| s.sessions.run.max_steps = 2);
    bench.send(300, &same(1, 1, 3));
    assert_eq!(bench.reports(), [""; 0]);
    assert_eq!(bench.engine.counters().over_limit, 1);
    assert_eq!(bench.released(), 3);
}

#[test]
fn drain_leaves_nothing_behind() {
    let mut bench = Bench::new(|s| s.sessions.settle = Settle::Fixed(Duration::from_secs(60)));
    for n in 1..=5 {
        bench.send(300, &same(n, 1, 3));
    }
    assert_eq!(bench.released(), 10);
    bench.drain(400);
    assert_eq!(bench.released(), 15);
    assert_eq!(bench.out.closed.len(), 5);
    let Answer::Status(status) = bench.engine.ask(&Query::Status) else {
        panic!()
    };
    assert_eq!(
        (status.open_runs, status.held_spans, status.held_bytes),
        (0, 0, 0)
    );
}

#[test]
fn a_marked_span_keeps_its_marks() {
    let mut bench = Bench::new(|_| {});
    let mut steps = same(1, 1, 3);
    steps[2].already_marked = true;
    bench.send(300, &steps);
    let patch = &bench.out.releases[0].patches[0].bytes;
    let text = String::from_utf8_lossy(patch);
    assert!(
        text.contains("sentinel.anomaly.repeats"),
        "the event is added"
    );
    assert!(
        !text.contains("sentinel.anomaly.detected"),
        "the attributes are not"
    );
    assert_eq!(bench.engine.counters().already_marked, 1);
}

#[test]
fn a13_red_tests_are_an_answer_and_a_runner_that_did_not_run_is_a_failure() {
    let reported = |failed_tests: Option<u32>| {
        let mut bench = Bench::new(|_| {});
        for number in 1..=10u32 {
            let at = 1000 * u64::from(number);
            let mut step = call(1, number, at, &format!("k{number}"), "a");
            if let Action::ToolCall(call) = &mut step.action {
                call.outcome = match number % 2 {
                    0 => Outcome::Failed(Failure {
                        class: u64::from(number),
                        ..Failure::default()
                    }),
                    _ => Outcome::Succeeded,
                };
                let red = test_run(1, number, at - 20, at);
                if let (Action::ToolCall(red), true) = (red.action, number % 4 == 0) {
                    call.effects.verification = red.effects.verification;
                }
                if let Some(check) = &mut call.effects.verification {
                    (check.verdict, check.failed) = (Verdict::Failed, failed_tests);
                }
            }
            bench.send(at, &[step]);
        }
        bench.drain(100_000);
        let mut reports = bench.out.reports.iter();
        reports.any(|report| report.finding.anomaly == AnomalyType::ErrorRate)
    };
    assert!(reported(None));
    assert!(!reported(Some(2)));
}

#[test]
fn a_clock_at_the_end_of_time_stops_nothing() {
    let mut bench = Bench::new(|_| {});
    let mut step = call(1, 1, 1000, "a", "x");
    (step.start, step.end) = (Timestamp::MAX, Timestamp::MAX);
    bench
        .engine
        .ingest(reading(&[step]), Timestamp::MAX, &mut bench.out);
    bench.engine.advance(Timestamp::MAX, &mut bench.out);
    bench.engine.drain(Timestamp::MAX, &mut bench.out);
    assert_eq!(bench.released(), 1);
}
