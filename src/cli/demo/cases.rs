//! The runs of the demo: what is sent, how, and what must come of it.
//!
//! `captures` are bodies that the official exporters of real SDKs posted. What no capture holds lies in
//! `runs.jsonl`: OTLP/JSON requests, one a line, with the attribute keys of the pydantic-ai 2 capture; a run
//! is told by its conversation, and may take several lines.

use bytes::Bytes;

use crate::otlp;
use crate::runtime::loopback::Transport;
use crate::steps::Reader;

use super::DemoError;

const BUNDLE: &str = include_str!("runs.jsonl");

const HEALTHY: &[u8] =
    include_bytes!("../../../tests/fixtures/captures/pydantic-ai/healthy.001.pb");
const FAILING: &[u8] =
    include_bytes!("../../../tests/fixtures/captures/vercel-ai-sdk-v7/stuck.001.pb");
const PREMATURE: &[u8] =
    include_bytes!("../../../tests/fixtures/captures/openai-agents-openinference/premature.001.pb");

/// Where the spans of a run are from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// One captured body, and the SDK it is from.
    Capture(&'static [u8], &'static str),
    /// The bundle, by conversation.
    Bundle(&'static str),
}

/// A finding that must come out: its type, and the step that shows it (counted by arrival from 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) anomaly: &'static str,
    pub(super) step: usize,
}

const fn expected(anomaly: &'static str, step: usize) -> Expected {
    Expected { anomaly, step }
}

/// One run as it is told here.
#[derive(Clone, Copy, Debug)]
struct Told {
    title: &'static str,
    origin: Origin,
    transport: Transport,
    expected: &'static [Expected],
}

const RUNS: [Told; 8] = [
    Told {
        title: "A fix that is tested",
        origin: Origin::Capture(HEALTHY, "pydantic-ai (Python)"),
        transport: Transport::Grpc,
        expected: &[],
    },
    Told {
        title: "Waiting for a deployment",
        origin: Origin::Bundle("deploy-poll"),
        transport: Transport::Http,
        expected: &[],
    },
    Told {
        title: "Edit, test, edit, test",
        origin: Origin::Bundle("edit-test-cycle"),
        transport: Transport::Grpc,
        expected: &[],
    },
    Told {
        title: "The same search again and again",
        origin: Origin::Bundle("docs-search"),
        transport: Transport::Http,
        expected: &[expected("stuck", 5)],
    },
    Told {
        title: "The same failure again and again",
        origin: Origin::Capture(FAILING, "Vercel AI SDK (JavaScript)"),
        transport: Transport::Grpc,
        expected: &[expected("failure_loop", 5)],
    },
    Told {
        title: "Sent from one desk to the other",
        origin: Origin::Bundle("order-desk"),
        transport: Transport::Http,
        expected: &[expected("ping_pong", 7)],
    },
    Told {
        title: "Done, it says after a red test run",
        origin: Origin::Capture(PREMATURE, "OpenAI Agents SDK"),
        transport: Transport::Grpc,
        expected: &[expected("premature_victory", 4)],
    },
    Told {
        title: "Freshness: a claim needs a test after the last edit",
        origin: Origin::Bundle("freshness"),
        transport: Transport::Http,
        expected: &[expected("premature_victory", 2)],
    },
];

/// One run, ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) title: &'static str,
    /// The SDK that it was captured from; `None` for one that was written for the demo.
    pub(super) sdk: Option<&'static str>,
    pub(super) transport: Transport,
    pub(super) expected: &'static [Expected],
    /// Its requests in protobuf, in order.
    pub(super) bodies: Vec<Bytes>,
}

/// All runs, in the order in which they are shown.
pub(super) fn load() -> Result<Vec<Case>, DemoError> {
    let bundle = bundle()?;
    let case = |told: &Told| {
        let (sdk, bodies) = match told.origin {
            Origin::Capture(body, sdk) => (Some(sdk), vec![Bytes::from_static(body)]),
            Origin::Bundle(name) => {
                let own = bundle
                    .iter()
                    .filter(|(conversation, _)| conversation == name);
                (None, own.map(|(_, body)| body.clone()).collect())
            }
        };
        Case {
            title: told.title,
            sdk,
            transport: told.transport,
            expected: told.expected,
            bodies,
        }
    };
    Ok(RUNS.iter().map(case).collect())
}

/// The requests of the bundle with their conversations.
fn bundle() -> Result<Vec<(String, Bytes)>, DemoError> {
    let broken = |line: usize, why: &dyn std::fmt::Display| {
        DemoError::Data(format!("runs.jsonl:{}: {why}", line + 1))
    };
    let mut reader = Reader::new(std::sync::Arc::default());
    let mut requests = Vec::new();
    for (number, line) in BUNDLE.lines().enumerate() {
        let body = otlp::transcode(line.as_bytes()).map_err(|error| broken(number, &error))?;
        let reading = reader
            .read(body.clone())
            .map_err(|error| broken(number, &error))?;
        let name = reading
            .steps
            .iter()
            .find_map(|step| step.conversation.clone());
        let name = name.ok_or_else(|| broken(number, &"no conversation"))?;
        requests.push((name.to_string(), body));
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_bundle_is_used_once() {
        let cases = load().unwrap();
        let written = cases.iter().filter(|case| case.sdk.is_none());
        let used: usize = written.map(|case| case.bodies.len()).sum();
        assert_eq!(used, BUNDLE.lines().count());
        assert!(cases.iter().all(|case| !case.bodies.is_empty()));
    }

    #[test]
    fn half_of_the_runs_take_each_transport() {
        let cases = load().unwrap();
        let grpc = cases
            .iter()
            .filter(|case| case.transport == Transport::Grpc);
        assert_eq!(grpc.count() * 2, cases.len());
    }
}
