import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";
import { openMetricsHub } from "../../../src/worker/telemetry/metrics-hub.ts";
import { createPushExporter } from "../../../src/worker/telemetry/push-exporter.ts";

/** The names that /metrics prints once everything has been measured. */
export async function printedSeries(): Promise<ReadonlySet<string>> {
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
  return new Set(Array.from(text.matchAll(/^([a-z_]+)[ {]/gm), ([, name = ""]) => name));
}
