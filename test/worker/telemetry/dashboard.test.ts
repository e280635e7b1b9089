import { readFile } from "node:fs/promises";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";
import { openMetricsHub } from "../../../src/worker/telemetry/metrics-hub.ts";
import { createPushExporter } from "../../../src/worker/telemetry/push-exporter.ts";

const DASHBOARD = new URL("../../../deploy/telemetry/grafana/parley.json", import.meta.url);

/** What /metrics prints once everything has been measured. */
async function renderAll(): Promise<string> {
  const hub = await openMetricsHub();
  const reader = new PeriodicExportingMetricReader({ exporter: createPushExporter(hub.url) });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const { waitingBlocks, tokens, ...instruments } = createTelemetry({}, { meterProvider }).instruments;
  waitingBlocks.addCallback((result) => result.observe(1));
  if ("tokenUsage" in tokens) tokens.tokenUsage.record(1);
  for (const each of Object.values(instruments)) {
    if ("record" in each) each.record(1);
    else each.add(1);
  }
  await reader.forceFlush();
  await meterProvider.shutdown();
  const text = hub.render();
  await hub.close();
  return text;
}

test("every series that the dashboard asks for is one that /metrics prints", async () => {
  const { panels } = JSON.parse(await readFile(DASHBOARD, "utf8")) as {
    panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll(/ by \([^)]*\)/g, "")));
  const asked = exprs.flatMap((expr) => expr.match(/(?:gen_ai|parley)_[a-z_]+/g) ?? []);
  const printed = new Set(Array.from((await renderAll()).matchAll(/^([a-z_]+)[ {]/gm), ([, name]) => name));

  expect(asked.length).toBeGreaterThanOrEqual(exprs.length);
  expect(asked.filter((name) => !printed.has(name))).toEqual([]);
});
