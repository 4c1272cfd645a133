"""The exporters of the Go SDK into agent-sentinel: every span arrives once, over both protocols, squeezed and plain.

usage: suite.py SENTINEL TELEMETRYGEN OTELCOL
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness as h  # noqa: E402
from collector import Collector, filed  # noqa: E402
from tap import Tap, Wire  # noqa: E402

SENTINEL, TELEMETRYGEN, OTELCOL = sys.argv[1:4]
WORKERS, TRACES, CHILDREN = 4, 250, 4
# The conventions of a tool call, on each span that telemetrygen makes: with status Error the same call fails each time.
CALL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "read_file",
    "gen_ai.tool.call.arguments": "src/missing.txt",
    "gen_ai.tool.call.result": "no such file",
}


def generate(port, protocol, compression, *more, workers=WORKERS, traces=TRACES):
    """Runs telemetrygen to its end; it fails where one of its exports does. Returns how many spans it was told to make."""
    command = [TELEMETRYGEN, "traces", "--otlp-insecure", "--otlp-endpoint", f"localhost:{port}", "--rate", "0"]
    command += ["--workers", str(workers), "--traces", str(traces), "--child-spans", str(CHILDREN), *more]
    if protocol == "http":
        command.append("--otlp-http")
    # Unthrottled it makes spans faster than the SDK sends them, and the SDK drops what its queue of 2048 does not hold.
    environment = {"OTEL_EXPORTER_OTLP_COMPRESSION": compression, "OTEL_BSP_MAX_QUEUE_SIZE": str(1 << 16)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=h.DEADLINE)
    h.check(ended.returncode == 0, f"telemetrygen ended with {ended.returncode}: {ended.stderr[-800:]}")
    return workers * traces * (1 + CHILDREN)


class Way:
    """agent-sentinel with a Collector behind it that writes down what comes."""

    def __init__(self, stage):
        exporters, self.out = filed(stage, "out")
        self.behind = Collector(stage, OTELCOL, "behind", exporters)
        self.sentinel = h.Sentinel(
            stage, SENTINEL, {"otlp_grpc": {"endpoint": f"localhost:{self.behind.grpc}", "tls": {"insecure": True}}}
        )

    def end(self):
        """Stops both in order, so that all that was taken is in the file; returns the spans there."""
        self.sentinel.stop()
        self.behind.program.stop()
        return list(h.spans_of(self.out))


WIRE = Wire()


def every_span_arrives_once(protocol, compression):
    with h.Stage() as stage:
        way = Way(stage)
        tap = stage.add(Tap({"grpc": way.sentinel.grpc, "http": way.sentinel.http}[protocol]))
        sent = generate(tap.port, protocol, compression)
        taken = way.sentinel.metric("otelcol_receiver_accepted_spans")
        spans = way.end()
        ids = {(span["traceId"], span["spanId"]) for _, _, span in spans}
        h.check(taken == sent, f"{sent} spans sent, {taken} taken")
        h.check(len(spans) == sent, f"{sent} spans sent, {len(spans)} came out")
        h.check(len(ids) == sent, f"{sent} spans sent, {len(ids)} different ones came out")
        h.check(not h.findings(way.out), "something was found on spans of no agent")
        WIRE.note(protocol, compression, tap, sent)


def every_span_over_grpc_with_gzip():
    every_span_arrives_once("grpc", "gzip")


def every_span_over_grpc_plain():
    every_span_arrives_once("grpc", "none")


def every_span_over_http_with_gzip():
    every_span_arrives_once("http", "gzip")


def every_span_over_http_plain():
    every_span_arrives_once("http", "none")


def a_failing_call_is_found():
    """Each trace makes the same failing call five times: each has a failure loop, and nothing is lost beside it."""
    with h.Stage() as stage:
        way = Way(stage)
        attributes = [f'--telemetry-attributes={key}="{value}"' for key, value in CALL.items()]
        sent = generate(way.sentinel.grpc, "grpc", "gzip", "--status-code", "Error", *attributes, workers=1, traces=20)
        spans = [entry for entry in way.end() if not h.ours(entry[1])]
        h.check(len(spans) == sent, f"{sent} spans sent, {len(spans)} came out")
        failing = {trace for trace, kind, _ in h.findings(way.out) if kind == "failure_loop"}
        h.check(len(failing) == 20, f"20 traces fail again and again, {len(failing)} were found")


if __name__ == "__main__":
    h.run(
        [
            every_span_over_grpc_with_gzip,
            every_span_over_grpc_plain,
            every_span_over_http_with_gzip,
            every_span_over_http_plain,
            a_failing_call_is_found,
        ]
    )
