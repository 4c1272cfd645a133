"""Keeps content inside the process: digests, sizes and outcomes leave in its place (see README.md).

provider.add_span_processor(ContentFree(BatchSpanProcessor(OTLPSpanExporter()), key=b"a secret of yours"))"""
import hashlib, hmac, json, re
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor
from opentelemetry.trace import Status, StatusCode

KEEP = re.compile(  # texts that leave: roles, names, ids. Numbers and switches leave as well, nothing else does
    r"gen_ai\.(operation\.name|system|provider\.name|(request|response)\.model|response\.finish_reasons|tool\.(name|call\.id)"
    r"|agent\.(name|id)|conversation\.id)|session\.id|openinference\.span\.kind|tool\.(name|id)|agent\.name|llm\.model_name"
    r"|ai\.(operationId|toolCall\.(name|id)|response\.finishReason)|traceloop\.(span\.kind|entity\.name)|error\.type|sentinel\..+")
TOOL = "gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name"
ARGUMENTS = "gen_ai.tool.call.arguments", "ai.toolCall.args", "ai.toolCall.input", "input.value", "traceloop.entity.input"
RESULT = "gen_ai.tool.call.result", "ai.toolCall.result", "ai.toolCall.output", "output.value", "traceloop.entity.output"
DECORATION = {"description", "explanation", "reason", "reasoning", "thought", "timeout", "timeout_ms"}
VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]*(Z|[+-]\d\d:?\d\d)?|\b\d+(\.\d+)?\s?(ms|s|secs?|seconds|min|minutes)\b|\b0x[0-9a-f]+"
    r"|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}\b|/tmp/\S+|\bpid[ =:]+\d+", re.I)
FAILED = re.compile(r'\s*(Error\b|Traceback )|[\s\S]*"((isError|is_error)":\s*true|status":\s*"error")')
PENDING = re.compile(r"\b(running|pending|queued|in[ _-]progress|processing|not (yet )?(ready|finished))\b", re.I)

def folded(value, top=False):  # what selects: no nulls, no decoration, blanks folded, whole numbers as such
    if isinstance(value, dict):
        kept = {key: folded(of) for key, of in value.items() if of is not None and not (top and key in DECORATION)}
        return kept or {key: folded(of) for key, of in value.items() if of is not None}
    if isinstance(value, list):
        return [folded(of) for of in value]
    return int(value) if isinstance(value, float) and value.is_integer() else " ".join(value.split()) if isinstance(value, str) else value

def canonical(text):
    try:
        return json.dumps(folded(json.loads(text), top=True), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return folded(text)

class ContentFree(SpanProcessor):
    def __init__(self, following, key):
        self.following, self.on_start, self.shutdown, self.force_flush = following, following.on_start, following.shutdown, following.force_flush
        self.digest = lambda kind, text: hmac.new(key, f"{kind}:{text}".encode(), hashlib.sha256).hexdigest()[:32]

    def on_end(self, span):
        had, raised = dict(span.attributes or {}), [event.attributes for event in span.events if event.name == "exception"]
        tool, arguments, result = (next((str(had[key]) for key in keys if key in had), None) for keys in (TOOL, ARGUMENTS, RESULT))
        new = {key: value for key, value in had.items() if isinstance(value, (bool, int, float)) or KEEP.fullmatch(key)}
        failed = bool(raised) or span.status.status_code is StatusCode.ERROR or bool(result and FAILED.match(result))
        if tool and arguments is not None:
            new["sentinel.call.signature"] = self.digest("call", f"{tool}:{canonical(arguments)}")
        if tool and result is not None:
            new["sentinel.result.digest"] = self.digest("result", VOLATILE.sub("~", result))
            new.update({"sentinel.result.bytes": len(result.encode()), "sentinel.result.pending": bool(PENDING.search(result))})
        if tool:
            new["sentinel.call.outcome"] = "error" if failed else "ok"
        if tool and failed:
            words = span.status.description or (raised and str(raised[-1].get("exception.message"))) or result or ""
            new["sentinel.error.digest"] = self.digest("error", re.sub(r"(/[\w.-]+)+|\d+", "~", VOLATILE.sub("~", words)))
        events = [Event("exception", {"exception.type": each.get("exception.type", "")}) for each in raised]
        self.following.on_end(ReadableSpan(
            span.name, span.context, span.parent, span.resource, new, events, span.links, span.kind, None,
            Status(span.status.status_code), span.start_time, span.end_time, span.instrumentation_scope))
