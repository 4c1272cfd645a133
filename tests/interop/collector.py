"""The OpenTelemetry Collector as a program beside agent-sentinel: in front of it, behind it, or as a witness of what came."""

import harness as h


class Collector:
    """A Collector with an OTLP receiver, its health and its metrics on free ports."""

    def __init__(self, stage, binary, name, exporters, processors=None, at=None):
        self.grpc, self.http = at or (h.free_port(), h.free_port())
        self.health, self.metrics = h.free_port(), h.free_port()
        processors = processors or {}
        config = {
            "receivers": {
                "otlp": {
                    "protocols": {
                        "grpc": {"endpoint": f"localhost:{self.grpc}"},
                        "http": {"endpoint": f"localhost:{self.http}"},
                    }
                }
            },
            "processors": processors,
            "exporters": exporters,
            "extensions": {"health_check": {"endpoint": f"localhost:{self.health}"}},
            "service": {
                "extensions": ["health_check"],
                "telemetry": {"metrics": {"readers": [h.pull(self.metrics)]}},
                "pipelines": {
                    "traces": {"receivers": ["otlp"], "processors": list(processors), "exporters": list(exporters)}
                },
            },
        }
        path = stage.write(f"{name}.yaml", config)
        command = [binary, "--config", str(path)]
        self.program = stage.add(h.Program(name, command, stage.folder, f"http://localhost:{self.health}/"))

    def metric(self, name, labels=""):
        return h.total(h.get(f"http://localhost:{self.metrics}/metrics") or "", name, labels) or 0


def filed(stage, name):
    """A file exporter that keeps nothing back, and its file."""
    path = stage.folder / f"{name}.jsonl"
    return {"file": {"path": str(path), "flush_interval": "50ms"}}, path
