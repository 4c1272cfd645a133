"""Plays a run through the processor and prints what would have left, a span a line; posts it where told to."""
import json, sys
from content_free import ContentFree
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult


class Print(SpanExporter):
    def export(self, spans):
        for span in spans:
            events = [dict(event.attributes) for event in span.events]
            status = [span.status.status_code.value, span.status.description]
            print(json.dumps({"name": span.name, "attributes": dict(span.attributes), "events": events, "status": status}))
        return SpanExportResult.SUCCESS


def exporter(endpoint):
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    return OTLPSpanExporter(endpoint=endpoint)


provider = TracerProvider(resource=Resource({"service.name": "content-free"}))
for one in [Print()] + [exporter(endpoint) for endpoint in sys.argv[1:]]:
    provider.add_span_processor(ContentFree(SimpleSpanProcessor(one), key=b"a key for tests"))
tracer = provider.get_tracer("content-free")
with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": "SECRET"}):
    for call in json.load(sys.stdin):
        with tracer.start_as_current_span("execute_tool") as span:
            span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call["tool"], "my.note": "SECRET"})
            span.set_attribute("gen_ai.tool.call.arguments", call["arguments"])
            if "result" in call:
                span.set_attribute("gen_ai.tool.call.result", call["result"])
            if "error" in call:
                span.add_event("exception", {"exception.type": "IOError", "exception.message": call["error"]})
                span.set_status(trace.Status(trace.StatusCode.ERROR, call["error"]))
provider.shutdown()
