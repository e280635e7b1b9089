import { type Context, type SpanContext, createTraceState, isSpanContextValid, trace } from "@opentelemetry/api";
import type { JsonObject } from "../lib/json.ts";

/** W3C Trace Context headers. They are sent with a message or a request so that the receiver's spans join the trace. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** In later versions, a `traceparent` may have more fields after the flags. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;
const TRACESTATE = /^[\u0020-\u007e]{1,512}$/;

/** Returns the sender's span, whose trace continues here, or `undefined` if there is no valid span. Never throws. */
export function readTrace({ traceparent, tracestate }: JsonObject): SpanContext | undefined {
  if (typeof traceparent !== "string") return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || (version === "00" && rest !== undefined)) return undefined;
  const hasState = typeof tracestate === "string" && TRACESTATE.test(tracestate);
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(hasState && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}

/** Returns the headers for a request made in `context`. Returns an empty object if there is no valid span. */
export function writeTrace(context: Context): TraceHeaders {
  const span = trace.getSpanContext(context);
  if (!span || !isSpanContextValid(span)) return {};
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0");
  const state = span.traceState?.serialize();
  return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}`, ...(state && { tracestate: state }) };
}

/** Returns the fields that link a log line to the active span. Returns an empty object if no span is active. */
export function activeTrace(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}
