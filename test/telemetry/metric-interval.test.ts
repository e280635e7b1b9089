import { expect, test } from "vitest";
import { ExportedTelemetry } from "./exported-telemetry.ts";

test("metrics are sent every OTEL_METRIC_EXPORT_INTERVAL, and not only at the end", async () => {
  await using exported = await ExportedTelemetry.start({ env: { OTEL_METRIC_EXPORT_INTERVAL: "100" } });
  exported.telemetry.instruments.sessions.add(1);

  await expect
    .poll(() => exported.receiver.metrics.filter(({ name }) => name === "parley.sessions").length, { timeout: 5_000 })
    .toBeGreaterThanOrEqual(2);
});
