import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from "@opentelemetry/api";
import { SamplingDecision } from "@opentelemetry/sdk-trace-node";
import { expect, test } from "vitest";
import { parseEnvironment } from "../../../src/worker/settings/environment.ts";
import { openMetricsHub } from "../../../src/worker/telemetry/metrics-hub.ts";
import { readOtelConfig } from "../../../src/worker/settings/load-config.ts";
import { createSampler } from "../../../src/worker/telemetry/sampler.ts";
import { startTelemetry } from "../../../src/worker/telemetry/start-telemetry.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
const read = (env: NodeJS.ProcessEnv) => readOtelConfig(parseEnvironment(env));

test("nothing is sent without an endpoint", () => {
  expect(read({}).exports).toEqual({ traces: false, metrics: false, logs: false });
});

test("one signal's endpoint sends only that signal", () => {
  const env = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "http://127.0.0.1:4318/v1/logs" };

  expect(read(env).exports).toEqual({ traces: false, metrics: false, logs: true });
});

test.each([
  ["OTEL_TRACES_EXPORTER", "traces"],
  ["OTEL_METRICS_EXPORTER", "metrics"],
  ["OTEL_LOGS_EXPORTER", "logs"],
])("%s=none disables the %s, and nothing else", (name, signal) => {
  const all = { traces: true, metrics: true, logs: true };

  expect(read({ ...ENDPOINT, [name]: "none" }).exports).toEqual({ ...all, [signal]: false });
});

test("OTEL_SDK_DISABLED disables everything", () => {
  expect(read({ ...ENDPOINT, OTEL_SDK_DISABLED: "true" })).toMatchObject({
    isDisabled: true,
    exports: { traces: false, metrics: false, logs: false },
  });
});

test.each([
  ["false", true],
  ["true", false],
])("with OTEL_SDK_DISABLED=%s, /metrics shows measurements: %s", async (isDisabled, expected) => {
  const hub = await openMetricsHub();
  const { telemetry, close } = startTelemetry({
    otel: read({ OTEL_SDK_DISABLED: isDisabled }),
    settings: {},
    hubUrl: hub.url,
  });
  telemetry.instruments.sessions.add(1);
  await close();

  expect(hub.render().includes("parley_sessions")).toBe(expected);
  await hub.close();
});

test("an unknown sampler is refused by name", () => {
  expect(() => read({ OTEL_TRACES_SAMPLER: "sometimes" })).toThrow(/OTEL_TRACES_SAMPLER.*always_on/);
});

const isTraced = (env: NodeJS.ProcessEnv, remoteFlags?: TraceFlags, traceId = "f".repeat(32)): boolean => {
  const parent = { traceId, spanId: "1".repeat(16), traceFlags: remoteFlags ?? 0, isRemote: true };
  const context = remoteFlags === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  const sampler = createSampler(read(env).sampler);
  const { decision } = sampler.shouldSample(context, traceId, "invoke_agent", SpanKind.INTERNAL, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
};

test.each([
  [{}, true],
  [{ OTEL_TRACES_SAMPLER: "always_off" }, false],
  [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, false],
  [{ OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }, false],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "1" }, true],
])("with %o a turn is traced: %s, whatever its participant's trace flag", (env, expected) => {
  const flags = [undefined, TraceFlags.NONE, TraceFlags.SAMPLED];

  expect(flags.map((each) => isTraced(env, each))).toEqual(flags.map(() => expected));
});

test("everything in a turn is traced like the turn itself", () => {
  const sampler = createSampler(read({ OTEL_TRACES_SAMPLER: "parentbased_always_off" }).sampler);
  const turn = { traceId: "1".repeat(32), spanId: "1".repeat(16), traceFlags: TraceFlags.SAMPLED };
  const context = trace.setSpanContext(ROOT_CONTEXT, turn);

  const { decision } = sampler.shouldSample(context, turn.traceId, "chat", SpanKind.CLIENT, {}, []);

  expect(decision).toBe(SamplingDecision.RECORD_AND_SAMPLED);
});
