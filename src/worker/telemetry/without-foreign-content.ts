import type { AttributeValue } from "@opentelemetry/api";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";

const OWN_SCOPE = "parley";

/** Removes all strings from spans of other libraries, because LiveKit's spans contain what participants said. */
export function withoutForeignContent(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(withoutTexts), done),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function withoutTexts(span: ReadableSpan): ReadableSpan {
  if (span.instrumentationScope.name === OWN_SCOPE) return span;
  const isPlain = ([, value]: [string, AttributeValue | undefined]) =>
    typeof value === "number" || typeof value === "boolean";
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    ...(span.parentSpanContext && { parentSpanContext: span.parentSpanContext }),
    startTime: span.startTime,
    endTime: span.endTime,
    status: { code: span.status.code },
    attributes: Object.fromEntries(Object.entries(span.attributes).filter(isPlain)),
    links: span.links.map(({ context }) => ({ context })),
    events: span.events.map(({ name, time }) => ({ name, time })),
    duration: span.duration,
    ended: span.ended,
    resource: span.resource,
    instrumentationScope: span.instrumentationScope,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
}
