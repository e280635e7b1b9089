import { expect, test } from "vitest";
import { Watching } from "./watching.ts";

test("metrics are sent every OTEL_METRIC_EXPORT_INTERVAL, and not only at the end", async () => {
  await using watching = await Watching.start({ env: { OTEL_METRIC_EXPORT_INTERVAL: "100" } });
  watching.telemetry.instruments.sessions.add(1);

  await expect
    .poll(() => watching.receiver.metrics.filter(({ name }) => name === "parley.sessions").length, { timeout: 5_000 })
    .toBeGreaterThanOrEqual(2);
});
