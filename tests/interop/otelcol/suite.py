"""The OpenTelemetry Collector in front of agent-sentinel and behind it: what goes in comes out, and is judged alike.

usage: suite.py SENTINEL OTELCOL
"""

import contextlib
import json
import pathlib
import subprocess
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


def proven(kind, spans):
    """The spans of a proof that are the same in whatever order spans arrive.

    A claim that the run's own span repeats is one claim, accused at the one of the two that arrives later; it comes last.
    """
    return spans[:-1] if kind == "premature_victory" else spans


def told(path):
    """What was told on the spans of a file: trace, type, proof."""
    found = []
    for trace, kind, proof in h.findings(path):
        spans = [span for value in json.loads(proof) for span in value["stringValue"].split(",")]
        found.append((trace, kind, proven(kind, spans)))
    return sorted(found)


def found_by_us_alone(runs):
    """What one of us finds without a Collector in front, and the spans that passed it."""
    with h.Stage() as stage:
        exporters, direct = filed(stage, "direct")
        behind = Collector(stage, OTELCOL, "behind", exporters)
        sentinel = h.Sentinel(stage, SENTINEL, from_sentinel(grpc=behind.grpc), processor=JUDGED)
        send(sentinel.http, runs)
        sentinel.stop()
        behind.program.stop()
        return told(direct), bare(direct)


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
        h.same("findings with and without a Collector in front", known.findings, told(out))
        h.check("balance" in balance, "no balance line at the end")


def in_front_and_behind_over_grpc():
    between_two("grpc")


def in_front_and_behind_over_http():
    between_two("http")


def recorded_by_the_collector_and_judged_later():
    """`replay` over the file that a Collector wrote without us tells what we tell live, with the same proof."""
    known = reference()
    with h.Stage() as stage:
        exporters, recording = filed(stage, "recording")
        collector = Collector(stage, OTELCOL, "collector", exporters)
        send(collector.http, known.runs)
        collector.program.stop()
        config = stage.write("judged.yaml", {"processors": {"anomaly": JUDGED}})
        command = [SENTINEL, "replay", "--config", str(config), "--format", "json", str(recording)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=h.DEADLINE, check=False)
        h.check(ended.returncode == 0, f"replay ended with {ended.returncode}: {ended.stderr[-800:]}")
        records = [json.loads(line) for line in ended.stdout.splitlines()]
        found = [(r["trace_id"], r["type"], r["evidence"]["span_ids"]) for r in records if r["record"] == "finding"]
        replayed = sorted((trace, kind, proven(kind, spans)) for trace, kind, spans in found)
        h.same("findings live and by replay", known.findings, replayed)


def retry_against_our_backpressure(way):
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
        entry = {"grpc": {"grpc": sentinel.grpc}, "http": {"http": sentinel.http}}[way]
        front = Collector(stage, OTELCOL, "front", onward(**entry, retry_on_failure=patient), batch)
        send(front.http, known.runs)
        h.until("we refuse", lambda: (sentinel.metric("sentinel_receiver_refused_requests") or 0) > 0)
        behind = Collector(stage, OTELCOL, "behind", exporters, at=later)
        h.until("every span passes", lambda: came(out) >= len(known.spans))
        front.program.stop()
        sentinel.stop()
        behind.program.stop()
        h.same("spans before and after an outage", known.spans, bare(out))


def retry_against_our_backpressure_over_grpc():
    retry_against_our_backpressure("grpc")


def retry_against_our_backpressure_over_http():
    retry_against_our_backpressure("http")


def call(trace, number, failed):
    """A request with one tool call of an agent; the same arguments and the same failure where it failed."""
    text = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.id": f"call-{number}",
        "gen_ai.tool.call.arguments": json.dumps({"path": "/srv/a.txt" if failed else f"/srv/{number}.txt"}),
        "gen_ai.tool.call.result": "ENOENT: no such file" if failed else f"contents number {number} of {number * 7}",
    }
    status = {"code": 2, "message": "ENOENT"} if failed else {}
    return request(trace, f"{number + 1:016x}", RUN, "execute_tool read_file", (number, 0.4), text, status)


def run_of(trace, seconds):
    """A request with the span of the run itself, which ends last."""
    return request(trace, RUN, "", "invoke_agent reader", (0, seconds), {"gen_ai.operation.name": "invoke_agent"}, {})


RUN = f"{255:016x}"


def request(trace, span_id, parent, name, lasted, text, status):
    begun = 1_790_000_000_000_000_000 + lasted[0] * 1_000_000_000
    span = {
        "traceId": trace,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + int(lasted[1] * 1_000_000_000)),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in text.items()],
        "status": status,
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]}
    scope_spans = [{"scope": {"name": "interop"}, "spans": [span]}]
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scope_spans}]}).encode()


SHORT, CLEAN, LONG = "a" * 32, "b" * 32, "c" * 32
KEEP_MARKED = [
    {
        "name": "anomalies",
        "type": "boolean_attribute",
        "boolean_attribute": {"key": "sentinel.anomaly.detected", "value": True},
    }
]


class Sampled:
    """We in front of a Collector that samples by our mark, and a way to tell us of calls one by one."""

    def __init__(self, stage, **sampling):
        exporters, self.out = filed(stage, "out")
        sampling = {"tail_sampling": {"num_traces": 1000, "policies": KEEP_MARKED, **sampling}}
        self.behind = Collector(stage, OTELCOL, "behind", exporters, sampling)
        self.sentinel = h.Sentinel(stage, SENTINEL, from_sentinel(grpc=self.behind.grpc))

    def tell(self, body):
        status = h.post(f"http://localhost:{self.sentinel.http}/v1/traces", body, "application/json")
        h.check(status == 200, f"a request was answered {status}")

    def decided(self, traces):
        count = "otelcol_processor_tail_sampling_global_count_traces_sampled"
        h.until(f"{traces} traces are decided", lambda: self.behind.metric(count) >= traces)

    def found(self, findings):
        h.until(f"{findings} findings", lambda: (self.sentinel.metric("sentinel_anomalies") or 0) >= findings)

    def end(self, spans):
        """Ends both once all spans came to the sampler; returns the ids of spans kept, by trace."""
        self.sentinel.stop()
        h.until("the sampler has every span", lambda: self.behind.metric("otelcol_receiver_accepted_spans") >= spans)
        self.behind.program.stop()
        kept = {}
        for _, scope, span in h.spans_of(self.out):
            if not h.ours(scope):
                kept.setdefault(span["traceId"], set()).add(span["spanId"])
        return kept


def tail_sampling_keeps_what_is_marked_in_time():
    """A run marked before `decision_wait` is over is kept, with what comes of it later; one marked after it is not."""
    with h.Stage() as stage:
        sampled = Sampled(stage, decision_wait="4s")
        for number in range(4):
            sampled.tell(call(SHORT, number, True))
            sampled.tell(call(CLEAN, number, False))
        sampled.tell(call(LONG, 0, False))
        sampled.decided(3)
        for number in range(1, 5):
            sampled.tell(call(LONG, number, True))
        sampled.tell(call(SHORT, 4, False))
        sampled.found(2)
        kept = sampled.end(14)
        h.check(set(kept) == {SHORT}, f"kept are {sorted(kept)}, not the one run that was marked in time")
        h.check(len(kept[SHORT]) == 5, f"of the run that was marked in time {len(kept[SHORT])} of 5 spans were kept")


def tail_sampling_decides_at_the_end_of_a_run():
    """What docs/interop.md advises: a long `decision_wait`, ended early by the run's own span, which comes last."""
    with h.Stage() as stage:
        sampled = Sampled(stage, decision_wait="600s", decision_wait_after_root_received="5s")
        for number in range(4):
            sampled.tell(call(LONG, number, number > 0))
            sampled.tell(call(CLEAN, number, False))
        sampled.tell(run_of(LONG, 4))
        sampled.tell(run_of(CLEAN, 4))
        sampled.decided(2)
        kept = sampled.end(10)
        h.check(set(kept) == {LONG}, f"kept are {sorted(kept)}, not the one run that was marked")
        h.check(len(kept[LONG]) == 5, f"of the marked run {len(kept[LONG])} of 5 spans were kept")


class Balanced:
    """client > Collector (loadbalancing by trace id) > two of us > Collector > file."""

    def __init__(self, stage, **protocol):
        exporters, self.out = filed(stage, "out")
        self.stage = stage
        self.behind = Collector(stage, OTELCOL, "behind", exporters)
        self.two = [self.start(f"sentinel-{number}") for number in (1, 2)]
        balancer = {
            "loadbalancing": {
                "routing_key": "traceID",
                "protocol": {"otlp": {"tls": {"insecure": True}, "compression": "gzip", **protocol}},
                "resolver": {"static": {"hostnames": [f"localhost:{one.grpc}" for one in self.two]}},
            }
        }
        self.front = Collector(stage, OTELCOL, "front", balancer)

    def start(self, name, at=None):
        onward_to = from_sentinel(grpc=self.behind.grpc)
        return h.Sentinel(self.stage, SENTINEL, onward_to, name=name, processor=JUDGED, at=at)

    def end(self, spans):
        """Ends all of them once `spans` have come; returns how many each of the two took."""
        h.until("every span passes", lambda: came(self.out) >= spans)
        self.front.program.stop()
        shares = [int(one.metric("otelcol_receiver_accepted_spans") or 0) for one in self.two]
        for one in self.two:
            one.stop()
        self.behind.program.stop()
        return shares


def load_balancing_by_trace_over_two():
    """Two of us find what one finds, and each span comes once."""
    known = reference()
    with h.Stage() as stage:
        balanced = Balanced(stage)
        send(balanced.front.http, known.runs)
        shares = balanced.end(len(known.spans))
        h.check(min(shares) > 0, f"one of the two got nothing: {shares}")
        h.same("spans through two of us", known.spans, bare(balanced.out))
        h.same("findings of two and of one", known.findings, told(balanced.out))
        print(f"        shares of the two: {shares} spans")


def load_balancing_while_one_of_two_restarts():
    """The share of one that is down waits in the queue that the balancer has for it: nothing is lost, nothing comes twice."""
    known = reference()
    names = sorted(known.runs)
    before, after = ({name: known.runs[name] for name in names[part::2]} for part in (0, 1))
    with h.Stage() as stage:
        patient = {"enabled": True, "initial_interval": "100ms", "max_interval": "1s", "max_elapsed_time": "0s"}
        balanced = Balanced(stage, retry_on_failure=patient)
        send(balanced.front.http, before)
        gone = balanced.two[1]
        gone.stop()
        send(balanced.front.http, after)
        balanced.two[1] = balanced.start("sentinel-2-again", at=(gone.grpc, gone.http))
        balanced.end(len(known.spans))
        h.same("spans before and after a restart", known.spans, bare(balanced.out))


def the_collector_takes_the_configurations_that_we_show():
    """Those of docs/interop.md, by the Collector's own `validate`."""
    page = (h.ROOT / "docs/interop.md").read_text()
    shown = [part.split("```")[0] for part in page.split("```yaml\n")[1:]]
    h.check(len(shown) >= 2, f"docs/interop.md shows {len(shown)} configurations")
    with h.Stage() as stage:
        for number, config in enumerate(shown):
            path = stage.folder / f"{number}.yaml"
            path.write_text(config)
            said = subprocess.run([OTELCOL, "validate", "--config", str(path)], capture_output=True, text=True, check=False)
            h.check(said.returncode == 0, f"{said.stderr}\n{config}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        h.run(
            [
                in_front_and_behind_over_grpc,
                in_front_and_behind_over_http,
                recorded_by_the_collector_and_judged_later,
                retry_against_our_backpressure_over_grpc,
                retry_against_our_backpressure_over_http,
                tail_sampling_keeps_what_is_marked_in_time,
                tail_sampling_decides_at_the_end_of_a_run,
                load_balancing_by_trace_over_two,
                load_balancing_while_one_of_two_restarts,
                the_collector_takes_the_configurations_that_we_show,
            ]
        )
