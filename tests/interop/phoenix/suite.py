"""Arize Phoenix behind agent-sentinel: marks are attributes and events there, and its page shows them.

usage: suite.py SENTINEL PHOENIX      SHOTS=folder keeps the picture
"""

import json
import os
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import browser  # noqa: E402
import harness as h  # noqa: E402

SENTINEL, PHOENIX = sys.argv[1:3]
LIBRARY = "langchain-openinference"


class Phoenix:
    """Phoenix with an empty database, on free ports."""

    def __init__(self, stage):
        self.port = h.free_port()
        environment = {
            "PHOENIX_WORKING_DIR": str(stage.folder / "phoenix"),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(self.port),
            "PHOENIX_GRPC_PORT": str(h.free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        ready = f"http://localhost:{self.port}/healthz"
        self.program = stage.add(h.Program("phoenix", [PHOENIX, "serve"], stage.folder, ready, environment))

    def spans(self):
        """All spans that the API gives, page by page."""
        spans, cursor = [], None
        while True:
            query = {"limit": 1000, **({"cursor": cursor} if cursor else {})}
            url = f"http://localhost:{self.port}/v1/projects/default/spans?{urllib.parse.urlencode(query)}"
            answer = json.loads(h.get(url) or "{}")
            spans += answer.get("data", [])
            cursor = answer.get("next_cursor")
            if not cursor:
                return spans

    def marked(self):
        return [span for span in self.spans() if "sentinel.anomaly.detected" in span["attributes"]]


def played(stage):
    """The captured runs of one library, through us, into Phoenix; gives Phoenix, the number of spans, and our marks."""
    phoenix = Phoenix(stage)
    out = stage.folder / "out.jsonl"
    exporters = {
        "otlp_http": {"endpoint": f"http://localhost:{phoenix.port}"},
        "file": {"path": str(out)},
    }
    sentinel = h.Sentinel(stage, SENTINEL, exporters)
    for name, bodies in h.captures().items():
        for body in bodies if name[0] == LIBRARY else []:
            h.post(f"http://localhost:{sentinel.http}/v1/traces", body, "application/x-protobuf")
    sentinel.stop()
    sent = [span for _, _, span in h.spans_of(out)]
    h.until("Phoenix has every span", lambda: len(phoenix.spans()) >= len(sent))
    return phoenix, sent


def marks_are_attributes_and_events():
    with h.Stage() as stage:
        phoenix, sent = played(stage)
        ours = {span["spanId"] for span in sent if h.attributes(span).get("sentinel.anomaly.detected")}
        there = phoenix.marked()
        h.check(len(ours) >= 3, f"the captures hold more than {len(ours)} marks")
        h.same("marked spans", sorted(ours), sorted(span["context"]["span_id"] for span in there))
        for span in there:
            attributes = span["attributes"]
            h.check(attributes.get("sentinel.anomaly.type"), f"no type on {span['name']}")
            events = [event["name"] for event in span["events"]]
            h.check("sentinel.anomaly" in events, f"no event on {span['name']}: {events}")
        kinds = sorted(span["attributes"]["sentinel.anomaly.type"] for span in there)
        print(f"        {len(sent)} spans, marked: {', '.join(kinds)}")


def the_page_shows_the_mark():
    with h.Stage() as stage:
        phoenix, _ = played(stage)
        span = next(s for s in phoenix.marked() if s["attributes"]["sentinel.anomaly.type"] == "failure_loop")
        project = json.loads(h.get(f"http://localhost:{phoenix.port}/v1/projects"))["data"][0]["id"]
        page = f"http://localhost:{phoenix.port}/projects/{urllib.parse.quote(project)}/traces/{span['context']['trace_id']}"
        picture = pathlib.Path(os.environ.get("SHOTS", stage.folder)) / "phoenix.png"
        dom = browser.drawn(stage.folder, page, picture)
        h.check("coder" in dom, "the run's spans are not drawn")
        h.check(picture.stat().st_size > 20000, "an empty picture")


if __name__ == "__main__":
    h.run([marks_are_attributes_and_events, the_page_shows_the_mark])
