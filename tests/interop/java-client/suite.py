"""The OpenTelemetry SDK of Java into agent-sentinel: every span arrives once, and the runs that fail are the ones found.

usage: suite.py SENTINEL FOLDER OTELCOL   (FOLDER holds lib/ and classes/, as `run` builds them)
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness as h  # noqa: E402
from collector import Collector, filed  # noqa: E402
from tap import Tap, Wire  # noqa: E402

SENTINEL, FOLDER, OTELCOL = sys.argv[1:4]
RUNS, FAILING = 400, 7
WIRE = Wire()


def agents(endpoint, protocol, compression):
    """Runs the agents to their end: the traces that fail, and how many spans there were."""
    path = f"{FOLDER}/lib/*:{FOLDER}/classes"
    command = ["java", "-cp", path, "Agents", protocol, endpoint, compression, str(RUNS), str(FAILING)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=h.DEADLINE)
    h.check(ended.returncode == 0, f"the agents ended with {ended.returncode}: {ended.stderr[-1500:]}")
    h.check(not ended.stderr, f"the SDK complained: {ended.stderr[:1500]}")
    lines = [line.split() for line in ended.stdout.splitlines()]
    failing = {line[1] for line in lines if line[0] == "run" and line[2] == "failing"}
    (spans,) = [int(line[1]) for line in lines if line[0] == "spans"]
    return failing, spans


def java_sends(protocol, compression):
    with h.Stage() as stage:
        exporters, out = filed(stage, "out")
        behind = Collector(stage, OTELCOL, "behind", exporters)
        onward = {"otlp_grpc": {"endpoint": f"localhost:{behind.grpc}", "tls": {"insecure": True}}}
        sentinel = h.Sentinel(stage, SENTINEL, onward)
        tap = stage.add(Tap({"grpc": sentinel.grpc, "http": sentinel.http}[protocol]))
        failing, sent = agents(f"http://localhost:{tap.port}", protocol, compression)
        taken = sentinel.metric("otelcol_receiver_accepted_spans")
        sentinel.stop()
        behind.program.stop()
        spans = [span for _, scope, span in h.spans_of(out) if not h.ours(scope)]
        h.check(len(failing) == FAILING and sent > RUNS, f"{len(failing)} failing runs, {sent} spans sent")
        h.check(taken == sent, f"{sent} spans sent, {taken} taken")
        h.check(len(spans) == sent, f"{sent} spans sent, {len(spans)} came out")
        h.check(len({span["spanId"] for span in spans}) == sent, "a span came out twice")
        found = h.findings(out)
        h.same("runs that fail and runs that are found", sorted(failing), sorted({trace for trace, _, _ in found}))
        h.check({kind for _, kind, _ in found} == {"failure_loop"}, f"something else was found: {found}")
        marked = {span["traceId"] for span in spans if h.attributes(span).get("sentinel.anomaly.detected")}
        h.same("runs that fail and runs with a mark on a span", sorted(failing), sorted(marked))
        exceptions = [e for span in spans for e in span.get("events", []) if e["name"] == "exception"]
        h.check(len(exceptions) == 4 * FAILING, f"{len(exceptions)} exceptions came out, {4 * FAILING} were recorded")
        print(f"        {RUNS} runs, {len(found)} findings")
        WIRE.note(protocol, compression, tap, sent)


def over_grpc_with_gzip():
    java_sends("grpc", "gzip")


def over_grpc_plain():
    java_sends("grpc", "none")


def over_http_with_gzip():
    java_sends("http", "gzip")


def over_http_plain():
    java_sends("http", "none")


if __name__ == "__main__":
    h.run([over_grpc_with_gzip, over_grpc_plain, over_http_with_gzip, over_http_plain])
