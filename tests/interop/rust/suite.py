"""The Rust example over gRPC.   usage: suite.py SENTINEL EXAMPLE"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness as h  # noqa: E402

SENTINEL, EXAMPLE = sys.argv[1:3]


def a_tool_that_fails_again_and_again():
    with h.Stage() as stage:
        out = stage.folder / "out.jsonl"
        sentinel = h.Sentinel(stage, SENTINEL, {"file": {"path": str(out)}})
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://localhost:{sentinel.grpc}"}
        ran = subprocess.run([EXAMPLE], env=environment, capture_output=True, text=True, timeout=h.DEADLINE, check=False)
        h.check(ran.returncode == 0, f"it ended with {ran.returncode}: {ran.stderr[-800:]}")
        log = sentinel.stop()
        kinds = [kind for _, kind, _ in h.findings(out)]
        h.check(kinds == ["failure_loop"], f"found {kinds}")
        spans = list(h.spans_of(out))
        h.check(len(spans) == 5, f"{len(spans)} spans of 5 came")
        h.check("accepted=5 " in log, f"the balance line does not tell of 5 spans: {log[-600:]}")


if __name__ == "__main__":
    h.run([a_tool_that_fails_again_and_again])
