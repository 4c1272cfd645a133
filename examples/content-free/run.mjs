// Plays a run through the processor and prints what would have left, a span a line; posts it where told to.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { ContentFree } from "./content-free.mjs";

const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const { BasicTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-base");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { trace, context } = require("@opentelemetry/api");

const print = {
  export(spans, done) {
    for (const span of spans) {
      const events = span.events.map((event) => event.attributes);
      const status = [span.status.code, span.status.message ?? null];
      console.log(JSON.stringify({ name: span.name, attributes: span.attributes, events, status }));
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const exporters = [print];
for (const url of process.argv.slice(2)) {
  const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
  exporters.push(new OTLPTraceExporter({ url }));
}
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ "service.name": "content-free" }),
  spanProcessors: exporters.map((one) => new ContentFree(new SimpleSpanProcessor(one), "a key for tests")),
});
const tracer = provider.getTracer("content-free");
const root = tracer.startSpan("invoke_agent", { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": "SECRET" } });
const inside = trace.setSpan(context.active(), root);
for (const call of JSON.parse(readFileSync(0, "utf8"))) {
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.tool, "my.note": "SECRET" };
  const span = tracer.startSpan("execute_tool", { attributes }, inside);
  span.setAttribute("gen_ai.tool.call.arguments", call.arguments);
  if (call.result !== undefined) span.setAttribute("gen_ai.tool.call.result", call.result);
  if (call.error !== undefined) {
    span.addEvent("exception", { "exception.type": "IOError", "exception.message": call.error });
    span.setStatus({ code: 2, message: call.error });
  }
  span.end();
}
root.end();
await provider.shutdown();
