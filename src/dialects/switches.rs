//! Where a framework's capture of content is switched on: what to say when arguments, results, texts or
//! definitions never come.
//!
//! Invariant: the table only advises; nothing is read by it. The scope of the instrumentation tells more than
//! the convention it follows, so it is asked first.

/// How one framework is told to record content. An empty text: it has no such switch.
#[derive(Debug, PartialEq, Eq)]
pub struct Switch {
    /// The framework or instrumentation, as people call it.
    pub framework: &'static str,
    /// For arguments of calls.
    pub arguments: &'static str,
    /// For results of calls.
    pub results: &'static str,
    /// For texts of models.
    pub texts: &'static str,
    /// For definitions of tools.
    pub definitions: &'static str,
}

impl Switch {
    /// One switch for everything.
    const fn one(framework: &'static str, switch: &'static str) -> Self {
        Self::content(framework, switch, switch)
    }

    /// One switch for content, another for definitions.
    const fn content(
        framework: &'static str,
        switch: &'static str,
        definitions: &'static str,
    ) -> Self {
        Self {
            framework,
            arguments: switch,
            results: switch,
            texts: switch,
            definitions,
        }
    }

    /// One for what goes in, one for what comes out.
    const fn ways(framework: &'static str, inputs: &'static str, outputs: &'static str) -> Self {
        Self {
            framework,
            arguments: inputs,
            results: outputs,
            texts: outputs,
            definitions: inputs,
        }
    }
}

/// The switch of OpenTelemetry's own instrumentations.
const OTEL: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT with \
     OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (older releases: =true)";
const OTEL_OR_BY_HAND: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT with \
     OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (older releases: =true); on spans made by hand set \
     gen_ai.tool.call.arguments and .result, gen_ai.output.messages and gen_ai.tool.definitions";
const TRACELOOP: &str = "TRACELOOP_TRACE_CONTENT=true (traceContent in JavaScript)";
const ON_SPANS: &str = "record gen_ai.tool.call.arguments and .result, gen_ai.output.messages and \
     gen_ai.tool.definitions on the spans";

/// By what the name of the scope begins with.
const BY_SCOPE: &[(&str, Switch)] = &[
    (
        "pydantic-ai",
        Switch::one(
            "pydantic-ai",
            "InstrumentationSettings(include_content=True)",
        ),
    ),
    (
        "strands.",
        Switch::content(
            "Strands",
            "",
            "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_tool_definitions",
        ),
    ),
    (
        "gcp.vertex.agent",
        Switch::one(
            "Google ADK",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT with \
             OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (before version 2: \
             ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true)",
        ),
    ),
    (
        "agent_framework",
        Switch::one(
            "agent-framework",
            "ENABLE_SENSITIVE_DATA=true, or enable_instrumentation(enable_sensitive_data=True)",
        ),
    ),
    (
        "Experimental.Microsoft.Agents",
        Switch::one("agent-framework", "EnableSensitiveData = true"),
    ),
    (
        "Experimental.Microsoft.Extensions.AI",
        Switch::one("Microsoft.Extensions.AI", "EnableSensitiveData = true"),
    ),
    (
        "semantic_kernel",
        Switch::one(
            "Semantic Kernel",
            "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
        ),
    ),
    ("autogen", Switch::content("AutoGen", "", "")),
    ("fastmcp", Switch::content("fastmcp", "", "")),
    ("mcp", Switch::content("MCP", "", "")),
    (
        "openlit.",
        Switch::one(
            "OpenLIT",
            "OPENLIT_CAPTURE_MESSAGE_CONTENT=true, or openlit.init(capture_message_content=True)",
        ),
    ),
    (
        "openinference.instrumentation.openai_agents",
        Switch {
            definitions: "",
            ..OPENINFERENCE
        },
    ),
    ("openinference.", OPENINFERENCE),
    (
        "opentelemetry.instrumentation.openai_v2",
        Switch::one("OpenTelemetry", OTEL),
    ),
    (
        "opentelemetry.instrumentation.openai_agents_v2",
        Switch::one("OpenTelemetry", OTEL),
    ),
    (
        "opentelemetry.instrumentation.google_genai",
        Switch::one("OpenTelemetry", OTEL),
    ),
    (
        "opentelemetry.util.genai",
        Switch::one("OpenTelemetry", OTEL),
    ),
    ("langsmith", LANGSMITH),
    ("langfuse", LANGFUSE),
];

/// The AI SDK names its scope with one word; any other scope that begins like it is another's.
const AI_SDK: [&str; 2] = ["ai", "gen_ai"];

const OPENINFERENCE: Switch = Switch {
    framework: "OpenInference",
    arguments: "OPENINFERENCE_HIDE_INPUTS left unset",
    results: "OPENINFERENCE_HIDE_OUTPUTS left unset",
    texts: "OPENINFERENCE_HIDE_OUTPUTS, OPENINFERENCE_HIDE_OUTPUT_MESSAGES and \
         OPENINFERENCE_HIDE_OUTPUT_TEXT left unset",
    definitions: "OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_LLM_TOOLS left unset",
};
const LANGSMITH: Switch = Switch::ways(
    "LangSmith",
    "LANGSMITH_HIDE_INPUTS left unset",
    "LANGSMITH_HIDE_OUTPUTS left unset",
);
const LANGFUSE: Switch = Switch::ways(
    "Langfuse",
    "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true (capture_input, captureInput)",
    "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true (capture_output, captureOutput)",
);
const VERCEL: Switch = Switch::ways(
    "AI SDK",
    "recordInputs: true in its telemetry settings",
    "recordOutputs: true in its telemetry settings",
);

/// By the convention that read the span.
const BY_DIALECT: &[(&str, Switch)] = &[
    ("openinference.span.kind", OPENINFERENCE),
    ("langsmith.span.kind", LANGSMITH),
    ("langfuse.observation.type", LANGFUSE),
    ("mlflow.spanType", Switch::content("MLflow", "", "")),
    ("ai.operationId", VERCEL),
    ("traceloop.span.kind", Switch::one("OpenLLMetry", TRACELOOP)),
    ("llm.request.type", Switch::one("OpenLLMetry", TRACELOOP)),
    ("mcp.method.name", Switch::content("MCP", "", "")),
    (
        "claude_code.",
        Switch {
            framework: "Claude Code",
            arguments: "OTEL_LOG_TOOL_DETAILS=1",
            results: "OTEL_LOG_TOOL_CONTENT=1",
            texts: "OTEL_LOG_ASSISTANT_RESPONSES=1 (prompts: OTEL_LOG_USER_PROMPTS=1)",
            definitions: "",
        },
    ),
    (
        super::OWN,
        Switch {
            framework: "a dialect of your own",
            arguments: "arguments in processors.anomaly.dialects",
            results: "result in processors.anomaly.dialects",
            texts: "text or output in processors.anomaly.dialects",
            definitions: "tool_definitions in processors.anomaly.dialects",
        },
    ),
];

/// Codex tells content by its log events alone, and other emitters follow GenAI conventions.
static CODEX: Switch = Switch {
    framework: "Codex",
    arguments: "a pipeline of logs here, and [otel] exporter in its config.toml",
    results: "a pipeline of logs here, and [otel] exporter in its config.toml",
    texts: "[otel] log_user_prompt = true in its config.toml (prompts; answers are not told)",
    definitions: "",
};
static EITHER: Switch = Switch::one(
    "OpenLLMetry or OpenTelemetry",
    "TRACELOOP_TRACE_CONTENT=true (OpenLLMetry), \
     OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT (OpenTelemetry)",
);
static GENAI: Switch = Switch::one("GenAI conventions", OTEL_OR_BY_HAND);
static BY_HAND: Switch = Switch::one("spans made by hand", ON_SPANS);

/// The switch of whoever made a span: `by` is what marks its convention (see [`super::Said::by`]).
pub fn switch(by: &str, scope: &str) -> &'static Switch {
    if AI_SDK.contains(&scope) {
        static SDK: Switch = VERCEL;
        return &SDK;
    }
    let is = |(prefix, _): &&(&str, Switch)| scope.starts_with(prefix);
    if by != super::OWN
        && let Some((_, switch)) = BY_SCOPE.iter().find(is)
    {
        return switch;
    }
    if let Some((_, switch)) = BY_DIALECT.iter().find(|(marker, _)| *marker == by) {
        return switch;
    }
    match by {
        "aborted" => &CODEX,
        _ if scope.starts_with("codex") => &CODEX,
        "gen_ai.operation.name" if scope.starts_with("opentelemetry.instrumentation.") => &EITHER,
        "gen_ai.operation.name" if scope.is_empty() => &BY_HAND,
        _ => &GENAI,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_tells_first_and_then_the_convention() {
        for (by, scope, framework) in [
            ("gen_ai.operation.name", "pydantic-ai", "pydantic-ai"),
            ("gen_ai.operation.name", "gcp.vertex.agent", "Google ADK"),
            ("gen_ai.operation.name", "gen_ai", "AI SDK"),
            ("ai.operationId", "my-tracer", "AI SDK"),
            (
                "gen_ai.operation.name",
                "opentelemetry.instrumentation.openai_v2",
                "OpenTelemetry",
            ),
            (
                "gen_ai.operation.name",
                "opentelemetry.instrumentation.langchain",
                "OpenLLMetry or OpenTelemetry",
            ),
            (
                "traceloop.span.kind",
                "opentelemetry.instrumentation.langchain",
                "OpenLLMetry",
            ),
            ("openinference.span.kind", "x", "OpenInference"),
            ("claude_code.", "com.anthropic.claude_code", "Claude Code"),
            ("gen_ai.operation.name", "", "spans made by hand"),
            ("gen_ai.operation.name", "my.agent", "GenAI conventions"),
            (super::super::OWN, "pydantic-ai", "a dialect of your own"),
        ] {
            assert_eq!(switch(by, scope).framework, framework, "{by} {scope}");
        }
    }
}
