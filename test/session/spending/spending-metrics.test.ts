import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { reply, text } from "../../../src/model-server/step.ts";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";
import { TestAgent } from "../../support/agent.ts";
import { billed } from "./billed.ts";

test("the cost of calls, and when a budget is nearly and then entirely used up, is measured as it is counted", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const prices = { "claude-test": { input: 1_000, output: 2_000, cacheRead: 100, cacheWrite: 3_000 } };
  await using agent = await TestAgent.start({
    telemetry: createTelemetry({}, { meterProvider }),
    policy: { budget: { session: { tokens: 200 } }, prices },
  });
  const user = await agent.client("user");
  agent.model.script([
    billed("One.", { input: 100, output: 60 }),
    billed("Two.", { input: 100, output: 60 }),
    reply([text("Three.")]),
  ]);
  for (const words of ["First", "Second", "Third"]) await user.answerTo(await user.say(words));
  await agent.leave();

  await reader.forceFlush();
  const measured =
    exporter
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
  await meterProvider.shutdown();
  const pointsOf = (name: string) =>
    measured
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => [...Object.values(attributes), value]));
  expect(pointsOf("parley.spending.tokens")).toEqual([["claude-test", "step", 320]]);
  expect(pointsOf("parley.spending.money")).toEqual([["claude-test", "step", expect.closeTo(0.44)]]);
  expect(pointsOf("parley.budget.events")).toEqual([
    ["session", "warned", 1],
    ["session", "spent", 1],
  ]);
});
