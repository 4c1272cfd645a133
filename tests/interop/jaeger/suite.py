"""Jaeger behind agent-sentinel: people find what was found by the tags that the documentation tells them.

usage: suite.py SENTINEL JAEGER
"""

import json
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness as h  # noqa: E402

SENTINEL, JAEGER = sys.argv[1:3]
LIBRARY = "pydantic-ai"


class Jaeger:
    """Jaeger with traces in memory, on free ports."""

    def __init__(self, stage):
        self.grpc, self.query, self.health = h.free_port(), h.free_port(), h.free_port()
        config = {
            "service": {
                "extensions": ["jaeger_storage", "jaeger_query", "healthcheckv2"],
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["jaeger_storage_exporter"]}},
            },
            "extensions": {
                "healthcheckv2": {"use_v2": True, "http": {"endpoint": f"localhost:{self.health}"}},
                "jaeger_storage": {"backends": {"memory": {"memory": {"max_traces": 10000}}}},
                "jaeger_query": {
                    "storage": {"traces": "memory"},
                    "http": {"endpoint": f"localhost:{self.query}"},
                    "grpc": {"endpoint": f"localhost:{h.free_port()}"},
                },
            },
            "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": f"localhost:{self.grpc}"}}}},
            "exporters": {"jaeger_storage_exporter": {"trace_storage": "memory"}},
        }
        command = [JAEGER, "--config", str(stage.write("jaeger.yaml", config))]
        ready = f"http://localhost:{self.query}/api/services"
        self.program = stage.add(h.Program("jaeger", command, stage.folder, ready))

    def ask(self, path, **query):
        answer = h.get(f"http://localhost:{self.query}/api/{path}?{urllib.parse.urlencode(query)}")
        return json.loads(answer or "{}").get("data") or []

    def search(self, tags):
        """Traces of any service that carry these tags on a span, as the search form asks for them."""
        far = {"start": 1, "end": 4_000_000_000_000_000, "limit": 1000, "tags": json.dumps(tags)}
        return [trace for service in self.ask("services") for trace in self.ask("traces", service=service, **far)]


def spans_with(traces, key, value):
    """Spans of these traces with a tag of this value."""
    spans = [span for trace in traces for span in trace["spans"]]
    return [span for span in spans if any(tag["key"] == key and tag["value"] == value for tag in span["tags"])]


def told(span):
    """The events of ours on a span, as dictionaries."""
    events = [{field["key"]: field["value"] for field in log["fields"]} for log in span["logs"]]
    return [event for event in events if event.get("event") == "sentinel.anomaly"]


class Played:
    """The captured runs of one library, through us, into Jaeger."""

    def __init__(self, stage):
        self.jaeger = Jaeger(stage)
        runs = {name: bodies for name, bodies in h.captures().items() if name[0] == LIBRARY}
        exporter = {"otlp_grpc": {"endpoint": f"localhost:{self.jaeger.grpc}", "tls": {"insecure": True}}}
        sentinel = h.Sentinel(stage, SENTINEL, exporter)
        for bodies in runs.values():
            for body in bodies:
                h.post(f"http://localhost:{sentinel.http}/v1/traces", body, "application/x-protobuf")
        sentinel.stop()
        self.runs = len(runs)
        h.until("Jaeger shows every run", lambda: len(self.jaeger.search({})) >= self.runs)


def found_by_the_tags_that_people_are_told():
    with h.Stage() as stage:
        played = Played(stage)
        everything = played.jaeger.search({})
        for key, value in (
            ("sentinel.anomaly.detected", True),
            ("sentinel.anomaly.premature_victory", True),
            ("sentinel.anomaly.type", "failure_loop"),
            ("sentinel.run.anomaly_count", 1),
        ):
            asked = str(value).lower() if isinstance(value, bool) else str(value)
            traces = played.jaeger.search({key: asked})
            marked = {span["traceID"] for span in spans_with(everything, key, value)}
            h.check(marked, f"no span carries {key}={asked}")
            h.same(f"search for {key}={asked}", sorted(marked), sorted(trace["traceID"] for trace in traces))
            print(f"        {key}={asked}: {len(traces)} of {played.runs} runs")
        detected = played.jaeger.search({"sentinel.anomaly.detected": "true"})
        h.check(len(detected) < played.runs, "the healthy run is found as well")


def events_and_evidence_are_there():
    with h.Stage() as stage:
        played = Played(stage)
        traces = played.jaeger.search({"sentinel.anomaly.type": "failure_loop"})
        h.check(len(traces) == 1, f"one run fails again and again, {len(traces)} found")
        (span,) = spans_with(traces, "sentinel.anomaly.type", "failure_loop")
        (event,) = told(span)
        for key in ("message", "rule", "repeats", "span_ids", "steps", "onset_step"):
            h.check(event.get(f"sentinel.anomaly.{key}"), f"the event lacks {key}: {event}")
        present = {one["spanID"] for one in traces[0]["spans"]}
        proof = event["sentinel.anomaly.span_ids"]
        h.check(set(proof.split(",")) <= present, f"the evidence names spans that are not there: {proof}")
        print(f"        {event['sentinel.anomaly.message']}")


if __name__ == "__main__":
    h.run([found_by_the_tags_that_people_are_told, events_and_evidence_are_there])
