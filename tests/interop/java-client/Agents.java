import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Runs of an agent as the Java SDK sends them: tool calls with arguments and results, under the span of the run.
 *
 * <p>usage: Agents grpc|http ENDPOINT none|gzip RUNS FAILING. Of RUNS runs the first FAILING make the same failing call four times.
 * Writes a line {@code run TRACE failing|healthy} for each run, then {@code spans N}.
 */
public final class Agents {
  private static final int CALLS = 4;
  /** More than all spans of a run of this program: the batch processor drops what finds no room in its queue. */
  private static final int QUEUE = 1 << 16;

  private final Tracer tracer;
  private int spans;

  private Agents(Tracer tracer) {
    this.tracer = tracer;
  }

  public static void main(String[] args) throws Exception {
    int runs = Integer.parseInt(args[3]);
    int failing = Integer.parseInt(args[4]);
    BatchSpanProcessor batches =
        BatchSpanProcessor.builder(exporter(args[0], args[1], args[2])).setMaxQueueSize(QUEUE).build();
    Resource resource =
        Resource.getDefault().merge(Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), "java-agent")));
    try (SdkTracerProvider provider = SdkTracerProvider.builder().setResource(resource).addSpanProcessor(batches).build()) {
      Agents agents = new Agents(provider.get("interop", "1"));
      for (int number = 0; number < runs; number++) {
        boolean fails = number < failing;
        System.out.println("run " + agents.run(number, fails) + (fails ? " failing" : " healthy"));
      }
      if (!provider.forceFlush().join(60, TimeUnit.SECONDS).isSuccess()) {
        throw new IllegalStateException("the exporter could not deliver everything");
      }
      System.out.println("spans " + agents.spans);
    }
  }

  private static SpanExporter exporter(String protocol, String endpoint, String compression) {
    return switch (protocol) {
      case "grpc" -> OtlpGrpcSpanExporter.builder().setEndpoint(endpoint).setCompression(compression).build();
      case "http" -> OtlpHttpSpanExporter.builder().setEndpoint(endpoint + "/v1/traces").setCompression(compression).build();
      default -> throw new IllegalArgumentException("no such protocol: " + protocol);
    };
  }

  /** One run; times are made up, so that nothing has to be waited for. Returns its trace. */
  private String run(int number, boolean fails) {
    Instant begun = Instant.now().minus(Duration.ofMinutes(1));
    Span run =
        span("invoke_agent fixer", "invoke_agent", begun)
            .setAttribute("gen_ai.agent.name", "fixer")
            .setAttribute("gen_ai.conversation.id", "run-" + number)
            .setNoParent()
            .startSpan();
    Context within = Context.root().with(run);
    for (int step = 0; step < CALLS; step++) {
      call(within, number, step, fails, begun.plusSeconds(step + 1));
    }
    run.end(begun.plusSeconds(CALLS + 2));
    spans++;
    return run.getSpanContext().getTraceId();
  }

  private void call(Context within, int run, int step, boolean fails, Instant begun) {
    String file = fails ? "missing" : "part-" + step;
    Span call =
        span("execute_tool read_file", "execute_tool", begun)
            .setParent(within)
            .setAttribute("gen_ai.tool.name", "read_file")
            .setAttribute("gen_ai.tool.call.id", "call-" + run + "-" + step)
            .setAttribute("gen_ai.tool.call.arguments", "{\"path\": \"src/" + file + ".txt\"}")
            .startSpan();
    if (fails) {
      call.setAttribute("gen_ai.tool.call.result", "no such file: src/missing.txt");
      call.setAttribute("error.type", "FileNotFoundException");
      call.recordException(new java.io.FileNotFoundException("src/missing.txt"));
      call.setStatus(StatusCode.ERROR, "no such file");
    } else {
      call.setAttribute("gen_ai.tool.call.result", "part " + step + " of run " + run);
    }
    call.end(begun.plusMillis(200));
    spans++;
  }

  private SpanBuilder span(String name, String operation, Instant begun) {
    return tracer
        .spanBuilder(name)
        .setSpanKind(SpanKind.INTERNAL)
        .setStartTimestamp(begun)
        .setAttribute("gen_ai.operation.name", operation);
  }
}
