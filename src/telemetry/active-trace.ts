import { trace } from "@opentelemetry/api";

/** What joins a log line to the span in which it is written. */
export function activeTrace(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}
