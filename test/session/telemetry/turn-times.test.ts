import { ROOT_CONTEXT } from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TurnTimes } from "../../../src/session/telemetry/turn-times.ts";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
afterEach(() => void vi.useRealTimers());

test.each([
  ["without any tracing", {}],
  ["with spans that are sent", { tracerProvider: new BasicTracerProvider() }],
])("%s a turn's parts have the times of its spans, and their owners", (_, providers) => {
  const times = new TurnTimes();
  const tracer = times.watch(createTelemetry({}, providers).tracer);
  const heard = tracer.startSpan("parley.hearing", { startTime: new Date(400) }, ROOT_CONTEXT);
  heard.setAttribute("parley.hearing.spoken", 0.45);
  heard.end();
  const chat = tracer.startSpan("chat claude-test");
  vi.advanceTimersByTime(30);
  chat.setAttribute("gen_ai.response.time_to_first_chunk", 0.03);
  times.handleText();
  vi.advanceTimersByTime(10);
  times.handleText();
  const attributes = { "gen_ai.tool.name": "scan", "gen_ai.tool.call.id": "toolu_1", "parley.call.id": "call" };
  const call = tracer.startSpan("execute_tool scan", { attributes });
  chat.setAttributes({ "gen_ai.usage.input_tokens": 3 });
  chat.end();
  vi.advanceTimersByTime(5);
  const claim = tracer.startSpan("parley.claim", { attributes: { "parley.call.id": "call" } });

  expect(times.toTimings()).toEqual({
    startedAt: 1_000,
    totalMs: 45,
    firstTextMs: 30,
    parts: [
      { span: "parley.hearing", fromMs: -600, firstMs: -150, toMs: 0 },
      { span: "chat", fromMs: 0, firstMs: 30, toMs: 40 },
      { span: "execute_tool", fromMs: 40, callId: "call", toolUseId: "toolu_1" },
      { span: "parley.claim", fromMs: 45, callId: "call" },
    ],
  });
  for (const span of [claim, call]) span.end();
  expect(times.toTimings().parts.map(({ toMs }) => toMs)).toEqual([0, 40, 45, 45]);
});

test("a turn with very many spans keeps the times of the first 200", () => {
  const times = new TurnTimes();
  const tracer = times.watch(createTelemetry().tracer);

  for (let count = 0; count < 300; count++) tracer.startSpan("chat claude-test").end();

  expect(times.toTimings().parts).toHaveLength(200);
});
