import {
  InMemoryMetricExporter,
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import type { ModelBlock } from "../../../src/llm/model-event.ts";
import { ServerToolTraces } from "../../../src/session/telemetry/server-tool-traces.ts";
import { TurnTrace } from "../../../src/session/telemetry/turn-trace.ts";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";

const use = (name: string, id: string): ModelBlock => ({
  blockType: "server_tool_use",
  textContent: null,
  content: { tool_use_id: id, tool_name: name, input: {} },
});
const result = (id: string): ModelBlock => ({
  blockType: "server_tool_result",
  textContent: null,
  content: { type: "web_search_tool_result", tool_use_id: id, content: [] },
});

/** The spans for a reply's tools, in the order they ended, and the names under which their durations are measured. */
async function watch(...blocks: readonly ModelBlock[]) {
  const spans = new InMemorySpanExporter();
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metrics });
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const telemetry = createTelemetry({}, { tracerProvider, meterProvider });
  const identity = { conversationId: "c", sessionId: "s", participant: "ann", model: "m", parent: undefined };
  const turn = new TurnTrace(telemetry, { ...identity, ownTools: new Set<string>() });
  const traces = new ServerToolTraces(telemetry, turn, turn.context);
  for (const block of blocks) traces.watch(block);
  turn.end({ state: "completed", errorCode: undefined });
  await reader.forceFlush();
  const measured = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const times = measured.find(({ descriptor }) => descriptor.name === "gen_ai.execute_tool.duration");
  await meterProvider.shutdown();
  return {
    ended: spans
      .getFinishedSpans()
      .filter(({ name }) => name.startsWith("execute_tool"))
      .map(({ name, attributes }) => `${name} ${String(attributes["parley.outcome"])}`),
    labels: times?.dataPoints.map(({ attributes }) => attributes["gen_ai.tool.name"]) ?? [],
  };
}

test("a use with a repeated id has its own span that ends", async () => {
  const { ended } = await watch(use("web_search", "a"), use("web_fetch", "a"), result("a"));

  expect(ended).toEqual(["execute_tool web_fetch cancelled", "execute_tool web_search success"]);
});

test("a use without an id has a span that ends", async () => {
  const { ended } = await watch(use("web_search", ""));

  expect(ended).toEqual(["execute_tool web_search cancelled"]);
});

test("an unknown tool has a span, from its use to its result", async () => {
  const { ended } = await watch(
    { blockType: "future_tool_use", textContent: null, content: { type: "future_tool_use", id: "f", name: "dig" } },
    {
      blockType: "server_tool_result",
      textContent: null,
      content: { type: "future_tool_result", tool_use_id: "f", content: { type: "future_tool_result_error" } },
    },
  );

  expect(ended).toEqual(["execute_tool dig error"]);
});

test("times are counted by the names of Anthropic's tools, and those of all others together", async () => {
  const { labels } = await watch(
    use("web_search", "a"),
    result("a"),
    use("invented_1", "b"),
    result("b"),
    use("invented_2", "c"),
    result("c"),
  );

  expect(labels).toEqual(["web_search", "_OTHER"]);
});
