// Keeps content inside the process: digests, sizes and outcomes leave in its place (see README.md).
//
// new NodeTracerProvider({ spanProcessors: [new ContentFree(new BatchSpanProcessor(new OTLPTraceExporter()), "a secret of yours")] })
import { createHmac } from "node:crypto";

const KEEP = new RegExp( // texts that leave: roles, names, ids. Numbers and switches leave as well, nothing else does
  "^(gen_ai\\.(operation\\.name|system|provider\\.name|(request|response)\\.model|response\\.finish_reasons|tool\\.(name|call\\.id)" +
  "|agent\\.(name|id)|conversation\\.id)|session\\.id|openinference\\.span\\.kind|tool\\.(name|id)|agent\\.name|llm\\.model_name" +
  "|ai\\.(operationId|toolCall\\.(name|id)|response\\.finishReason)|traceloop\\.(span\\.kind|entity\\.name)|error\\.type|sentinel\\..+)$");
const TOOL = ["gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name"];
const ARGUMENTS = ["gen_ai.tool.call.arguments", "ai.toolCall.args", "ai.toolCall.input", "input.value", "traceloop.entity.input"];
const RESULT = ["gen_ai.tool.call.result", "ai.toolCall.result", "ai.toolCall.output", "output.value", "traceloop.entity.output"];
const DECORATION = ["description", "explanation", "reason", "reasoning", "thought", "timeout", "timeout_ms"];
const VOLATILE = new RegExp(
  "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d[\\d:.,]*(Z|[+-]\\d\\d:?\\d\\d)?|\\b\\d+(\\.\\d+)?\\s?(ms|s|secs?|seconds|min|minutes)\\b|\\b0x[0-9a-f]+" +
  "|\\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b|\\b(?=\\d*[a-f])(?=[a-f]*\\d)[0-9a-f]{8,}\\b|/tmp/\\S+|\\bpid[ =:]+\\d+", "gi");
const FAILED = /^(\s*(Error\b|Traceback )|[^]*"((isError|is_error)":\s*true|status":\s*"error"))/;
const PENDING = /\b(running|pending|queued|in[ _-]progress|processing|not (yet )?(ready|finished))\b/i;

const folded = (value, top = false) => { // what selects: no nulls, no decoration, blanks folded, keys sorted
  if (typeof value === "string") return value.split(/\s+/).filter(Boolean).join(" ");
  if (Array.isArray(value)) return value.map((of) => folded(of));
  if (value === null || typeof value !== "object") return value;
  const all = Object.keys(value).sort().filter((key) => value[key] !== null);
  const kept = all.filter((key) => !(top && DECORATION.includes(key)));
  return Object.fromEntries((kept.length ? kept : all).map((key) => [key, folded(value[key])]));
};
const canonical = (text) => { try { return JSON.stringify(folded(JSON.parse(text), true)); } catch { return folded(text); } };
const text = (value) => (value === undefined || typeof value === "string" ? value : JSON.stringify(value));

export class ContentFree {
  constructor(following, key) {
    this.following = following;
    this.digest = (kind, words) => createHmac("sha256", key).update(`${kind}:${words}`).digest("hex").slice(0, 32);
  }
  onStart(span, context) { this.following.onStart(span, context); }
  onEnd(span) {
    const had = span.attributes, raised = span.events.filter((event) => event.name === "exception");
    const first = (keys) => text(had[keys.find((key) => had[key] !== undefined)]);
    const [tool, input, result] = [first(TOOL), first(ARGUMENTS), first(RESULT)];
    const now = Object.fromEntries(Object.entries(had).filter(([key, of]) => ["number", "boolean"].includes(typeof of) || KEEP.test(key)));
    const failed = raised.length > 0 || span.status.code === 2 || (result !== undefined && FAILED.test(result));
    if (tool && input !== undefined) now["sentinel.call.signature"] = this.digest("call", `${tool}:${canonical(input)}`);
    if (tool && result !== undefined) {
      now["sentinel.result.digest"] = this.digest("result", result.replace(VOLATILE, "~"));
      Object.assign(now, { "sentinel.result.bytes": Buffer.byteLength(result), "sentinel.result.pending": PENDING.test(result) });
    }
    if (tool) now["sentinel.call.outcome"] = failed ? "error" : "ok";
    const words = span.status.message || raised.at(-1)?.attributes?.["exception.message"] || result || "";
    if (tool && failed) now["sentinel.error.digest"] = this.digest("error", words.replace(VOLATILE, "~").replace(/(\/[\w.-]+)+|\d+/g, "~"));
    const events = raised.map((event) => ({ ...event, attributes: { "exception.type": event.attributes?.["exception.type"] ?? "" } }));
    this.following.onEnd(Object.create(span, Object.entries({ attributes: now, events, status: { code: span.status.code } })
      .reduce((all, [key, value]) => ({ ...all, [key]: { value, enumerable: true } }), {})));
  }
  shutdown() { return this.following.shutdown(); }
  forceFlush() { return this.following.forceFlush(); }
}
