"""The OpenTelemetry Collector in front of agent-sentinel and behind it: what goes in comes out, and is judged alike.

usage: suite.py SENTINEL OTELCOL
"""

import contextlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness as h  # noqa: E402
from collector import Collector, filed  # noqa: E402

SENTINEL, OTELCOL = sys.argv[1:3]
PROTOBUF = "application/x-protobuf"


def onward(grpc=None, http=None, **more):
    """An exporter to a next hop over one of the two protocols, squeezed, with ten senders."""
    common = {"compression": "gzip", "tls": {"insecure": True}, "sending_queue": {"num_consumers": 10}, **more}
    if grpc:
        return {"otlp": {"endpoint": f"localhost:{grpc}", **common}}
    return {"otlphttp": {"endpoint": f"http://localhost:{http}", **common}}


def from_sentinel(grpc=None, http=None):
    """Our own exporter to the Collector behind."""
    if grpc:
        return {"otlp_grpc": {"endpoint": f"localhost:{grpc}", "compression": "gzip", "tls": {"insecure": True}}}
    return {"otlp_http": {"endpoint": f"http://localhost:{http}", "compression": "gzip"}}


def send(port, runs):
    for requests in runs.values():
        for body in requests:
            status = h.post(f"http://localhost:{port}/v1/traces", body, PROTOBUF)
            h.check(status == 200, f"a captured request was answered {status}")


def came(path):
    """How many spans that are not ours a file holds."""
    return sum(1 for _, scope, _ in h.spans_of(path) if not h.ours(scope))


def bare(path):
    return sorted(h.bare(*entry) for entry in h.spans_of(path) if not h.ours(entry[1]))


# Ten senders change the order of requests. With one wait for all, what came within it is judged as if in order, so that
# even the evidence has to be the same; `auto` promises that for runs which it has seen out of order. By trace, since all
# captured runs of a library claim to be one conversation, in which the order of the runs matters.
JUDGED = {"settle": "2s", "group_by": ["trace"]}


def found_by_us_alone(runs):
    """What one of us finds without a Collector in front, and the spans that passed it."""
    with h.Stage() as stage:
        exporters, direct = filed(stage, "direct")
        behind = Collector(stage, OTELCOL, "behind", exporters)
        sentinel = h.Sentinel(stage, SENTINEL, from_sentinel(grpc=behind.grpc), processor=JUDGED)
        send(sentinel.http, runs)
        sentinel.stop()
        behind.program.stop()
        return h.findings(direct), bare(direct)


class Reference:
    """The captures, once through a Collector alone (what must come out) and once through us alone (what must be found)."""

    def __init__(self):
        self.runs = h.captures()
        with h.Stage() as stage:
            exporters, alone = filed(stage, "alone")
            collector = Collector(stage, OTELCOL, "collector", exporters)
            send(collector.http, self.runs)
            collector.program.stop()
            self.spans = bare(alone)
        self.findings, passed = found_by_us_alone(self.runs)
        h.same("spans that passed us alone", self.spans, passed)
        h.check(len(self.findings) > 20, f"the captures hold more than {len(self.findings)} findings")
        print(f"        {len(self.spans)} spans of {len(self.runs)} captured runs, {len(self.findings)} findings")


REFERENCE = []


def reference():
    if not REFERENCE:
        REFERENCE.append(Reference())
    return REFERENCE[0]


def between_two(way):
    """client > Collector (batch, gzip, ten senders) > us > Collector > file."""
    known = reference()
    with h.Stage() as stage:
        exporters, out = filed(stage, "out")
        behind = Collector(stage, OTELCOL, "behind", exporters)
        ports = {"grpc": {"grpc": behind.grpc}, "http": {"http": behind.http}}[way]
        sentinel = h.Sentinel(stage, SENTINEL, from_sentinel(**ports), processor=JUDGED)
        entry = {"grpc": {"grpc": sentinel.grpc}, "http": {"http": sentinel.http}}[way]
        batch = {"batch": {"timeout": "50ms", "send_batch_size": 64, "send_batch_max_size": 64}}
        front = Collector(stage, OTELCOL, "front", onward(**entry), batch)
        send(front.http, known.runs)
        h.until("every span passes", lambda: came(out) >= len(known.spans))
        front.program.stop()
        balance = sentinel.stop()
        behind.program.stop()
        h.same("spans before and after", known.spans, bare(out))
        h.same("findings with and without a Collector in front", known.findings, h.findings(out))
        h.check("balance" in balance, "no balance line at the end")


def in_front_and_behind_over_grpc():
    between_two("grpc")


def in_front_and_behind_over_http():
    between_two("http")


def retry_against_our_backpressure():
    """The backend is down and our queue is small: we refuse, the Collector in front keeps and tries again."""
    known = reference()
    with h.Stage() as stage:
        exporters, out = filed(stage, "out")
        later = (h.free_port(), h.free_port())
        exporter = from_sentinel(grpc=later[0])
        exporter["otlp_grpc"].update(
            {
                "sending_queue": {"queue_size": "64KiB"},
                "retry_on_failure": {"initial_interval": "100ms", "max_interval": "500ms", "max_elapsed_time": "0s"},
            }
        )
        sentinel = h.Sentinel(stage, SENTINEL, exporter)
        patient = {"enabled": True, "initial_interval": "100ms", "max_interval": "1s", "max_elapsed_time": "0s"}
        batch = {"batch": {"timeout": "50ms", "send_batch_size": 32, "send_batch_max_size": 32}}
        front = Collector(stage, OTELCOL, "front", onward(grpc=sentinel.grpc, retry_on_failure=patient), batch)
        send(front.http, known.runs)
        h.until("we refuse", lambda: (sentinel.metric("sentinel_receiver_refused_requests") or 0) > 0)
        behind = Collector(stage, OTELCOL, "behind", exporters, at=later)
        h.until("every span passes", lambda: came(out) >= len(known.spans))
        front.program.stop()
        sentinel.stop()
        behind.program.stop()
        h.same("spans before and after an outage", known.spans, bare(out))


def call(trace, number, failed):
    """A request with one tool call of an agent; the same arguments and the same failure where it failed."""
    begun = 1_790_000_000_000_000_000 + number * 1_000_000_000
    text = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.id": f"call-{number}",
        "gen_ai.tool.call.arguments": json.dumps({"path": "/srv/a.txt" if failed else f"/srv/{number}.txt"}),
        "gen_ai.tool.call.result": "ENOENT: no such file" if failed else f"contents number {number} of {number * 7}",
    }
    span = {
        "traceId": trace,
        "spanId": f"{number + 1:016x}",
        "parentSpanId": "00000000000000ff",
        "name": "execute_tool read_file",
        "kind": 1,
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + 400_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in text.items()],
        "status": {"code": 2, "message": "ENOENT"} if failed else {},
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]}
    scope_spans = [{"scope": {"name": "interop"}, "spans": [span]}]
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scope_spans}]}).encode()


def tail_sampling_keeps_what_is_marked_in_time():
    """Tail sampling by our mark: a run marked before `decision_wait` is over is kept, one marked after it is not."""
    short, clean, long = ("a" * 32, "b" * 32, "c" * 32)
    sampling = {
        "tail_sampling": {
            "decision_wait": "4s",
            "num_traces": 1000,
            "policies": [
                {
                    "name": "anomalies",
                    "type": "boolean_attribute",
                    "boolean_attribute": {"key": "sentinel.anomaly.detected", "value": True},
                }
            ],
        }
    }
    with h.Stage() as stage:
        exporters, out = filed(stage, "out")
        behind = Collector(stage, OTELCOL, "behind", exporters, sampling)
        sentinel = h.Sentinel(stage, SENTINEL, from_sentinel(grpc=behind.grpc))

        def tell(trace, number, failed):
            status = h.post(f"http://localhost:{sentinel.http}/v1/traces", call(trace, number, failed), "application/json")
            h.check(status == 200, f"a request was answered {status}")

        for number in range(4):
            tell(short, number, True)
            tell(clean, number, False)
        tell(long, 0, False)
        undecided = "otelcol_processor_tail_sampling_global_count_traces_sampled"
        h.until("all three traces are decided", lambda: behind.metric(undecided) >= 3)
        for number in range(1, 5):
            tell(long, number, True)
        h.until("its failures were found", lambda: (sentinel.metric("sentinel_anomalies") or 0) >= 2)
        sentinel.stop()
        # A span of a trace that was turned down is let go as it comes; the Collector counts it.
        h.until("the late spans came", lambda: behind.metric("otelcol_receiver_accepted_spans") >= 13)
        behind.program.stop()
        kept = {span["traceId"] for _, _, span in h.spans_of(out)}
        marked = {h.attributes(span).get("sentinel.anomaly.detected") for _, _, span in h.spans_of(out)}
        h.check(short in kept and True in marked, "the run marked in time was not kept")
        h.check(clean not in kept, "a run without a mark was kept")
        h.check(long not in kept, "the run marked after its decision was kept: docs/interop.md says otherwise")


def load_balancing_by_trace_over_two():
    """client > Collector (loadbalancing by trace id) > two of us > Collector: found alike, each span once."""
    known = reference()
    with h.Stage() as stage:
        exporters, out = filed(stage, "out")
        behind = Collector(stage, OTELCOL, "behind", exporters)
        onward_to = from_sentinel(grpc=behind.grpc)
        two = [h.Sentinel(stage, SENTINEL, onward_to, name=f"sentinel-{n}", processor=JUDGED) for n in (1, 2)]
        balancer = {
            "loadbalancing": {
                "routing_key": "traceID",
                "protocol": {"otlp": {"tls": {"insecure": True}, "compression": "gzip"}},
                "resolver": {"static": {"hostnames": [f"localhost:{one.grpc}" for one in two]}},
            }
        }
        front = Collector(stage, OTELCOL, "front", balancer)
        send(front.http, known.runs)
        h.until("every span passes", lambda: came(out) >= len(known.spans))
        front.program.stop()
        shares = [one.metric("otelcol_receiver_accepted_spans") or 0 for one in two]
        for one in two:
            one.stop()
        behind.program.stop()
        h.check(min(shares) > 0, f"one of the two got nothing: {shares}")
        h.same("spans through two of us", known.spans, bare(out))
        h.same("findings of two and of one", known.findings, h.findings(out))
        print(f"        shares of the two: {[int(share) for share in shares]} spans")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        h.run(
            [
                in_front_and_behind_over_grpc,
                in_front_and_behind_over_http,
                retry_against_our_backpressure,
                tail_sampling_keeps_what_is_marked_in_time,
                load_balancing_by_trace_over_two,
            ]
        )
