"""What the interop suites share: real processes on free ports, waiting without sleeping blindly, reading what came out.

Standard library alone, so that a suite runs wherever Python 3.9 does.
"""

import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "tests/fixtures/captures"
# What nobody reaches when all is well: a busy machine of two cores builds things beside us.
DEADLINE = 120.0


class Failed(Exception):
    """A check that did not hold."""


def cache():
    """The folder where built programs and packages outlive a run; `SENTINEL_CACHE` moves it."""
    default = pathlib.Path.home() / ".cache/agent-sentinel-interop"
    path = pathlib.Path(os.environ.get("SENTINEL_CACHE", default))
    path.mkdir(parents=True, exist_ok=True)
    return path


def free_port():
    """A port of loopback that nobody held a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, condition, deadline=DEADLINE):
    """Asks `condition` until it gives something true, and returns that; fails with `what` after `deadline` seconds."""
    end = time.monotonic() + deadline
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {deadline:.0f} s")
        time.sleep(0.05)


def get(url):
    """The body behind `url`, or None while nobody answers with success there."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, OSError):
        return None


def post(url, body, content_type, squeeze=True):
    """Sends one OTLP request over HTTP and returns its status."""
    headers = {"Content-Type": content_type}
    if squeeze:
        body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


class Program:
    """A process that is ended, and whose last words are shown, whatever happens."""

    def __init__(self, name, command, folder, ready, env=None):
        self.name = name
        self.log = folder / f"{name}.log"
        self.out = open(self.log, "wb")
        environment = {**os.environ, **(env or {})}
        self.process = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT, env=environment)
        self.wait_ready(ready)

    def wait_ready(self, ready):
        def answered():
            if self.process.poll() is not None:
                raise Failed(f"{self.name} ended at once:\n{self.words()}")
            return get(ready)

        until(f"{self.name} answers at {ready}", answered)

    def words(self, most=1500):
        return self.log.read_text(errors="replace")[-most:]

    def stop(self):
        """Ends it in good order; returns its log."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.out.close()
        return self.words(1 << 20)


class Stage:
    """A folder of its own and the programs of one test; the folder stays where the test failed."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interop-"))
        self.programs = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for program in reversed(self.programs):
            program.stop()
        if kind is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            for program in (one for one in self.programs if isinstance(one, Program)):
                print(f"--- {program.name}\n{program.words()}", file=sys.stderr)

    def add(self, program):
        self.programs.append(program)
        return program

    def write(self, name, config):
        """A configuration file: JSON, which every reader of YAML takes."""
        path = self.folder / name
        path.write_text(json.dumps(config, indent=1))
        return path


class Sentinel:
    """agent-sentinel with both receivers, health and metrics on free ports."""

    def __init__(self, stage, binary, exporters, name="sentinel", receiver=None, pipelines=None, processor=None, at=None, extensions=None):
        self.grpc, self.http = at or (free_port(), free_port())
        self.health, self.metrics = free_port(), free_port()
        protocols = {"grpc": {"endpoint": f"localhost:{self.grpc}"}, "http": {"endpoint": f"localhost:{self.http}"}}
        for protocol in protocols.values():
            protocol.update(receiver or {})
        config = {
            "receivers": {"otlp": {"protocols": protocols}},
            "processors": {"anomaly": processor or {}},
            "exporters": exporters,
            "extensions": {"health_check": {"endpoint": f"localhost:{self.health}"}, **(extensions or {})},
            "service": {
                "extensions": ["health_check", *(extensions or {})],
                "telemetry": {"metrics": {"readers": [pull(self.metrics)]}},
                "pipelines": pipelines
                or {"traces": {"receivers": ["otlp"], "processors": ["anomaly"], "exporters": list(exporters)}},
            },
        }
        path = stage.write(f"{name}.yaml", config)
        command = [binary, "--config", str(path)]
        self.program = stage.add(Program(name, command, stage.folder, f"http://localhost:{self.health}/ready"))

    def metric(self, name):
        """The sum of all series of a metric, None before it is served."""
        page = get(f"http://localhost:{self.metrics}/metrics") or ""
        return total(page, name)

    def stop(self):
        return self.program.stop()


def pull(port):
    """A reader of metrics in the Collector's spelling."""
    return {"pull": {"exporter": {"prometheus": {"host": "localhost", "port": port}}}}


def total(page, name, labels=""):
    """Sum of the series of `name` (with or without `_total`) whose labels hold `labels`; None where there is none."""
    values = []
    for line in page.splitlines():
        series = re.match(r"(\w+)(\{[^}]*\})? (\S+)", line)
        if series and series[1] in (name, f"{name}_total") and labels in (series[2] or ""):
            values.append(float(series[3]))
    return sum(values) if values else None


def captures(scenarios=("healthy", "stuck", "premature", "empty", "unknown_tool")):
    """Bodies of captured requests (protobuf), a list for each run, in the order in which they were sent."""
    runs = {}
    for path in sorted(CAPTURES.glob("*/*.pb")):
        scenario = path.name.split(".")[0]
        if scenario in scenarios and "logs" not in path.name:
            runs.setdefault((path.parent.name, scenario), []).append(path.read_bytes())
    if not runs:
        raise Failed(f"no captures under {CAPTURES}")
    return runs


def requests_of(path):
    """Requests in a file of OTLP/JSON, a line each; a line still being written is left for later."""
    requests = []
    with contextlib.suppress(FileNotFoundError):
        for line in path.read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                requests.append(json.loads(line))
    return requests


def spans_of(path):
    """Every span in such a file, each with its resource and its scope."""
    for request in requests_of(path):
        for resource in request.get("resourceSpans", []):
            for scope in resource.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    yield resource.get("resource", {}), scope.get("scope", {}), span


def attributes(bearer):
    """Attributes as a plain dictionary; values as written."""
    return {entry["key"]: next(iter(entry.get("value", {}).values()), None) for entry in bearer.get("attributes", [])}


def bare(resource, scope, span):
    """A span without our marks, as one comparable text; what was there before stays in its order."""
    mine = ("sentinel.",)
    clean = dict(span)
    clean["attributes"] = [a for a in span.get("attributes", []) if not a["key"].startswith(mine)]
    clean["events"] = [e for e in span.get("events", []) if not e.get("name", "").startswith(mine)]
    return json.dumps([resource, scope, clean], sort_keys=True)


def ours(scope):
    """Whether a span is one that agent-sentinel made."""
    return scope.get("name") == "sentinel"


def findings(path):
    """What was told on the spans of a file: (trace, type, the steps that prove it), sorted."""
    told = set()
    for _, _, span in spans_of(path):
        for event in span.get("events", []):
            if event.get("name") == "sentinel.anomaly":
                proof = json.dumps(
                    [a["value"] for a in event["attributes"] if a["key"] == "sentinel.anomaly.span_ids"], sort_keys=True
                )
                told.add((span["traceId"], attributes(event)["sentinel.anomaly.type"], proof))
    return sorted(told)


def same(what, left, right):
    """Fails with the first differences between two sorted lists."""
    if left == right:
        return
    missing = [str(item)[-400:] for item in left if item not in right][:3]
    more = [str(item)[-400:] for item in right if item not in left][:3]
    raise Failed(f"{what}: {len(left)} and {len(right)}; only in the first {missing}; only in the second {more}")


def check(condition, what):
    """Fails with `what` unless `condition` holds."""
    if not condition:
        raise Failed(what)


def run(tests):
    """Runs tests one after another, and ends the process as a suite should."""
    passed, broken, started = 0, [], time.monotonic()
    for test in tests:
        begun = time.monotonic()
        name = test.__name__.replace("_", " ")
        try:
            test()
            passed += 1
            print(f"ok      {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception as error:  # every test is shown, whatever ends it
            broken.append(name)
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
    print(f"wall time {time.monotonic() - started:.0f} s")
    print(f"{passed} passed, {len(broken)} failed", flush=True)
    sys.exit(1 if broken else 0)
