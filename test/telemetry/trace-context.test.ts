import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { readTrace, writeTrace } from "../../src/telemetry/trace-context.ts";

const SPAN = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
const STATE = "a=1,b=2";

function handedOn(headers: Readonly<Record<string, string>>) {
  const read = readTrace(headers);
  return read && writeTrace(trace.setSpanContext(ROOT_CONTEXT, read));
}

test.each([
  ["a trace and its state", { traceparent: `00-${SPAN}-01`, tracestate: STATE }, { tracestate: STATE }],
  ["a trace of a later version, which may say more", { traceparent: `01-${SPAN}-01-more` }, {}],
  ["a trace, without flags that we do not know", { traceparent: `00-${SPAN}-ff` }, {}],
  ["a trace, without a state that cannot be read", { traceparent: `00-${SPAN}-01`, tracestate: "\0" }, {}],
])("%s is passed on", (_, headers, state) => {
  expect(handedOn(headers)).toEqual({ traceparent: `00-${SPAN}-01`, ...state });
});

test.each([
  ["ff", `ff-${SPAN}-01`],
  ["more in version 00", `00-${SPAN}-01-more`],
  ["a trace of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
  ["words", "a trace"],
])("%s is not a trace", (_, traceparent) => {
  expect(handedOn({ traceparent })).toBeUndefined();
});
