"""Headless Chromium looks at the pages: what is drawn, in both colour schemes, and that nothing of a stranger's runs.

usage: suite.py SENTINEL      SHOTS=folder keeps the pictures
"""

import json
import os
import pathlib
import struct
import sys
import urllib.parse
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import browser  # noqa: E402
import harness as h  # noqa: E402

SENTINEL = sys.argv[1]
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


def paper(png):
    """Red, green and blue of the first pixel of a picture, which every filter of PNG leaves as it is: the colour of the page."""
    data, at, packed = png.read_bytes(), 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(packed)[1:4])


def hostile(number):
    text = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": HOSTILE,
        "gen_ai.agent.name": HOSTILE,
        "gen_ai.conversation.id": HOSTILE,
        "gen_ai.tool.call.arguments": "{}",
        "gen_ai.tool.call.result": "ENOENT",
    }
    span = {
        "traceId": "f" * 32,
        "spanId": f"{number + 1:016x}",
        "parentSpanId": "00000000000000ff",
        "name": HOSTILE,
        "startTimeUnixNano": str(1_790_000_000_000_000_000 + number * 1_000_000_000),
        "endTimeUnixNano": str(1_790_000_000_400_000_000 + number * 1_000_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in text.items()],
        "status": {"code": 2, "message": "ENOENT"},
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


class Shown:
    """agent-sentinel with pages, after captured runs and a hostile one."""

    def __init__(self, stage):
        self.port, self.folder = h.free_port(), stage.folder
        sentinel = h.Sentinel(
            stage,
            SENTINEL,
            {"file": {"path": "/dev/null"}},
            extensions={"zpages": {"endpoint": f"localhost:{self.port}"}},
        )
        url = f"http://localhost:{sentinel.http}/v1/traces"
        for name, bodies in h.captures().items():
            if name[0] in ("pydantic-ai", "strands"):
                for body in bodies:
                    h.post(url, body, "application/x-protobuf")
        for number in range(4):
            h.post(url, hostile(number), "application/json")
        h.until("the hostile run is found", lambda: "&lt;script&gt;" in (h.get(self.url("anomalyz")) or ""))
        h.until("all is judged", lambda: "premature_victory</span>" in (h.get(self.url("anomalyz")) or ""))

    def url(self, page):
        return f"http://localhost:{self.port}/debug/{page}"

    def drawn(self, page):
        return browser.browse(self.folder, "--dump-dom", self.url(page))

    def picture(self, name, page, *arguments):
        shots = pathlib.Path(os.environ.get("SHOTS", self.folder))
        path = shots / f"{name}.png"
        browser.browse(self.folder, f"--screenshot={path}", *arguments, self.url(page))
        h.check(path.stat().st_size > 5000, f"{name} is an empty picture")
        return path


def session_of(page, words):
    """The link to the session of the first finding whose row holds `words`."""
    row = next(row for row in page.split("<tr>") if words in row)
    return row.split('href="')[1].split('"')[0].replace("&amp;", "&")


def the_marked_step_is_drawn():
    with h.Stage() as stage:
        shown = Shown(stage)
        link = session_of(h.get(shown.url("anomalyz?type=failure_loop&service=pydantic-ai")), "read_file")
        dom = shown.drawn(link)
        h.check(dom.count('class="judged"') >= 1, "no step is marked")
        h.check(dom.count('class="proof"') >= 2, "the steps that prove it are not marked")
        h.check("failed 3 times" in dom, "the finding is not told")
        h.check("<rect" in dom, "no timeline is drawn")
        for page in ("sessionz", "anomalyz", "detectorz", "servicez"):
            h.check("agent-sentinel" in shown.drawn(page), f"{page} is not drawn")


def both_colour_schemes_and_a_phone():
    with h.Stage() as stage:
        shown = Shown(stage)
        link = session_of(h.get(shown.url("anomalyz?type=failure_loop&service=pydantic-ai")), "read_file")
        light = shown.picture("session-light", link, "--window-size=1200,900")
        dark = shown.picture("session-dark", link, "--window-size=1200,900", "--blink-settings=preferredColorScheme=0")
        shown.picture("session-phone", link, "--window-size=420,900")
        shown.picture("sessions", "sessionz", "--window-size=1200,900")
        shown.picture("anomalies", "anomalyz", "--window-size=1200,900")
        shown.picture("detectors", "detectorz", "--window-size=1200,900")
        h.check(min(paper(light)) > 200, f"the light page is dark: {paper(light)}")
        h.check(max(paper(dark)) < 60, f"the dark page is light: {paper(dark)}")


def nothing_of_a_stranger_runs():
    with h.Stage() as stage:
        shown = Shown(stage)
        pages = ["anomalyz", "sessionz", f"sessionz?id={urllib.parse.quote(HOSTILE)}"]
        for page in pages:
            dom = shown.drawn(page)
            h.check("<title>taken" not in dom, f"{page} ran what a span said")
            h.check("<img" not in dom and "<script" not in dom, f"{page} holds markup of a span")
            h.check("&lt;script&gt;" in dom, f"{page} does not show the name")


if __name__ == "__main__":
    h.run([the_marked_step_is_drawn, both_colour_schemes_and_a_phone, nothing_of_a_stranger_runs])
