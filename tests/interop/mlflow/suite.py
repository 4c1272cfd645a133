"""MLflow's server behind agent-sentinel: marks are attributes of its spans, and its page shows the traces.

usage: suite.py SENTINEL (with the Python that has mlflow)      SHOTS=folder keeps the picture
"""

import os
import pathlib
import sys

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import browser  # noqa: E402
import harness as h  # noqa: E402
from mlflow import MlflowClient  # noqa: E402

SENTINEL = sys.argv[1]
LIBRARY = "pydantic-ai"


class Mlflow:
    """The server with an empty database, on a free port."""

    def __init__(self, stage):
        self.port = h.free_port()
        store = f"sqlite:///{stage.folder}/mlflow.db"
        command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--backend-store-uri", store, "--artifacts-destination", str(stage.folder), "--workers", "1"]
        self.url = f"http://127.0.0.1:{self.port}"
        self.program = stage.add(h.Program("mlflow", command, stage.folder, f"{self.url}/health"))
        self.client = MlflowClient(tracking_uri=self.url)

    def spans(self):
        traces = self.client.search_traces(locations=["0"], max_results=100)
        return [span for trace in traces for span in trace.data.spans]


def played(stage):
    """The captured runs of one library, through us, into MLflow; gives MLflow and the spans sent."""
    mlflow = Mlflow(stage)
    out = stage.folder / "out.jsonl"
    to = {"endpoint": mlflow.url, "headers": {"x-mlflow-experiment-id": "0"}}
    sentinel = h.Sentinel(stage, SENTINEL, {"otlp_http": to, "file": {"path": str(out)}})
    for name, bodies in h.captures().items():
        for body in bodies if name[0] == LIBRARY else []:
            h.post(f"http://localhost:{sentinel.http}/v1/traces", body, "application/x-protobuf")
    sentinel.stop()
    sent = [span for _, _, span in h.spans_of(out)]
    h.until("MLflow has every span", lambda: len(mlflow.spans()) >= len(sent))
    return mlflow, sent


def marks_are_attributes():
    with h.Stage() as stage:
        mlflow, sent = played(stage)
        ours = {span["spanId"] for span in sent if h.attributes(span).get("sentinel.anomaly.detected")}
        there = [span for span in mlflow.spans() if span.attributes.get("sentinel.anomaly.detected")]
        h.same("marked spans", sorted(ours), sorted(span.span_id for span in there))
        for span in there:
            h.check(span.attributes.get("sentinel.anomaly.message"), f"no message on {span.name}")
            names = [event.name for event in span.events]
            h.check("sentinel.anomaly" in names, f"no event on {span.name}: {names}")
        kinds = sorted(span.attributes["sentinel.anomaly.type"] for span in there)
        print(f"        {len(sent)} spans, marked: {', '.join(kinds)}")


def the_page_shows_the_traces():
    with h.Stage() as stage:
        mlflow, _ = played(stage)
        picture = pathlib.Path(os.environ.get("SHOTS", stage.folder)) / "mlflow.png"
        dom = browser.drawn(stage.folder, f"{mlflow.url}/#/experiments/0/traces", picture)
        h.check("Traces" in dom, "the list of traces is not drawn")
        h.check(picture.stat().st_size > 20000, "an empty picture")


if __name__ == "__main__":
    h.run([marks_are_attributes, the_page_shows_the_traces])
