"""Runs an example agent against the scripted model, through agent-sentinel into a file, and says what was found."""

import contextlib
import os
import subprocess
import sys
import threading

import harness as h

EXAMPLES = h.ROOT / "examples/agents"
# What must be on the spans of each script; nothing else of that weight may be.
EXPECTED = {"healthy": set(), "stuck": {"failure_loop"}, "premature": {"premature_victory"}}
WEIGHTY = ("warning", "error")


@contextlib.contextmanager
def scripted_model():
    """The model server of the examples, on a free port; gives its address."""
    sys.path.insert(0, str(EXAMPLES))
    import model_server

    server = model_server.serve()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


class Judge:
    """agent-sentinel with a file behind it."""

    def __init__(self, stage, binary):
        self.out = stage.folder / "out.jsonl"
        self.sentinel = h.Sentinel(stage, binary, {"file": {"path": str(self.out)}})
        self.asked = {}

    def play(self, command, folder, script, protocol, model, extra=None):
        """Runs one agent to its end; its traces are told apart by its service name, which has the script appended."""
        port = self.sentinel.grpc if protocol == "grpc" else self.sentinel.http
        service = f"{command[-1].split('/')[-1].split('.')[0]}-{script}-{protocol.replace('/', '-')}"
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": model,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://localhost:{port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_SERVICE_NAME": service,
            **(extra or {}),
        }
        ran = subprocess.run(
            [*command, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=h.DEADLINE, check=False
        )
        h.check(ran.returncode == 0, f"{service} ended with {ran.returncode}: {ran.stderr[-1500:]}")
        self.asked[service] = script

    def verdicts(self):
        """Ends agent-sentinel and checks what it said of every run; returns the number of spans."""
        log = self.sentinel.stop()
        found, spans = {service: set() for service in self.asked}, dict.fromkeys(self.asked, 0)
        for resource, scope, span in h.spans_of(self.out):
            if h.ours(scope):
                continue
            service = h.attributes(resource)["service.name"]
            spans[service] += 1
            marks = h.attributes(span)
            if marks.get("sentinel.anomaly.severity") in WEIGHTY:
                found[service].add(marks["sentinel.anomaly.type"])
        wrong = []
        for service, script in self.asked.items():
            ok = found[service] == EXPECTED[script] and spans[service] > 0
            print(f"        {service}: {spans[service]} spans, {', '.join(sorted(found[service])) or 'silent'}")
            if not ok:
                wrong.append(service)
        h.check(not wrong, f"not as expected: {wrong}")
        total = sum(spans.values())
        h.check(f"accepted={total} " in log, f"the balance line does not tell of {total} spans: {log[-600:]}")
        return total
