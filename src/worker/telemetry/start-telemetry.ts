import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { telemetry as agents } from "@livekit/agents";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { capturesSpans, createTelemetry, type Telemetry, type TelemetrySettings } from "../../telemetry/telemetry.ts";
import { createLogStream, type LogStream } from "./log-stream.ts";
import { createPushExporter } from "./push-exporter.ts";
import type { OtelConfig } from "../otel-config.ts";
import { createSampler } from "./sampler.ts";
import { withoutForeignContent } from "./without-foreign-content.ts";

/** How long telemetry may delay a process's exit, even if the endpoint is unreachable. */
const CLOSE_LIMIT_MS = 1_500;
const PUSH_EVERY_MS = 2_000;

interface StartOptions {
  readonly otel: OtelConfig;
  readonly settings: Partial<Omit<TelemetrySettings, "convention" | "capture">>;
  /** Where measurements are posted for /metrics. @defaultValue nowhere */
  readonly hubUrl?: string | undefined;
}

export interface ProcessTelemetry {
  readonly telemetry: Telemetry;
  /**
   * Registers our tracer for the whole process: LiveKit's spans join ours, and log lines contain the ids of their span.
   */
  readonly joinProcess: () => void;
  /** The second destination of log lines, which exports them. `undefined` if logs are not exported. */
  readonly logStream: LogStream | undefined;
  /** Sends everything still pending, within 1.5 s. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Starts the telemetry that the environment configures. Without an endpoint, no spans or log records are created. */
export function startTelemetry({ otel, settings, hubUrl }: StartOptions): ProcessTelemetry {
  const { exports, isDisabled, convention, capture } = otel;
  const own = { "service.name": "parley", "service.instance.id": randomUUID() };
  const named = detectResources({ detectors: [envDetector] });
  const resource = defaultResource().merge(resourceFromAttributes(own)).merge(named);
  const traces = exports.traces ? [new BatchSpanProcessor(spanExporter(otel))] : [];
  const tracerProvider = new NodeTracerProvider({
    resource,
    spanProcessors: traces,
    sampler: createSampler(otel.sampler),
  });
  const loggerProvider = new LoggerProvider({
    resource,
    processors: exports.logs ? [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })] : [],
  });
  const readers = [
    ...(exports.metrics ? [exportReader(otel.metricsEveryMs)] : []),
    ...(hubUrl !== undefined && !isDisabled ? [pushReader(hubUrl)] : []),
  ];
  const meterProvider = new MeterProvider({ resource, readers });
  const telemetry = createTelemetry(
    { ...settings, convention, capture },
    {
      ...(exports.traces && { tracerProvider }),
      ...(readers.length > 0 && { meterProvider }),
      ...(exports.logs && { loggerProvider }),
    },
  );
  const close = () => shutDown([tracerProvider, loggerProvider, meterProvider]);
  const joinProcess = () => {
    if (!exports.traces) return;
    tracerProvider.register();
    // LiveKit's own redaction is not needed: `withoutForeignContent` removes LiveKit's strings unless content is
    // captured.
    agents.setTracerProvider(tracerProvider, { registerSpanProcessor: () => {} });
  };
  return { telemetry, joinProcess, logStream: exports.logs ? createLogStream(loggerProvider) : undefined, close };
}

/** Resolves after `CLOSE_LIMIT_MS` even if the providers are still sending. Never rejects. */
async function shutDown(providers: readonly { readonly shutdown: () => Promise<void> }[]): Promise<void> {
  const limit = new AbortController();
  const closing = Promise.allSettled(providers.map((provider) => provider.shutdown()));
  await Promise.race([closing, sleep(CLOSE_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => {})]);
  limit.abort();
}

function spanExporter({ capture }: OtelConfig) {
  const exporter = new OTLPTraceExporter();
  return capturesSpans({ capture }) ? exporter : withoutForeignContent(exporter);
}

function exportReader(exportIntervalMillis: number): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(), exportIntervalMillis });
}

function pushReader(url: string): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: createPushExporter(url),
    exportIntervalMillis: PUSH_EVERY_MS,
    exportTimeoutMillis: PUSH_EVERY_MS,
  });
}
