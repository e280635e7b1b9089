import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { trace } from "@opentelemetry/api";
import { afterAll, expect, test, vi } from "vitest";
import { parseEnvironment } from "../../../src/worker/settings/environment.ts";
import { readOtelConfig } from "../../../src/worker/settings/load-config.ts";
import { reportLosses } from "../../../src/worker/telemetry/report-losses.ts";
import { startTelemetry } from "../../../src/worker/telemetry/start-telemetry.ts";

afterAll(() => vi.unstubAllEnvs());

test("an endpoint that accepts nothing is reported once, without its address", async () => {
  const server = createServer((_request, response) => response.writeHead(400).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
  const warnings: unknown[][] = [];
  reportLosses({ warn: (...line: unknown[]) => void warnings.push(line) });
  const otel = readOtelConfig(parseEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }));
  const { joinProcess, telemetry, close } = startTelemetry({ otel, settings: {} });
  joinProcess();

  trace.getTracer("test").startSpan("one").end();
  telemetry.instruments.sessions.add(1);
  await close();

  expect(warnings).toEqual([["telemetry export failed, retrying"]]);
  server.close();
});
