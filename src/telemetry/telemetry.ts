import { metrics, trace, type MeterProvider, type Tracer, type TracerProvider } from "@opentelemetry/api";
import { logs, type Logger, type LoggerProvider } from "@opentelemetry/api-logs";
import { createInstruments, type Instruments } from "./instruments.ts";
import type { Convention } from "./names.ts";
import type { Representation } from "./representation/representation.ts";

export const CAPTURE_MODES = ["NO_CONTENT", "SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT"] as const;

/** Where content is captured: on spans, in events, in both or nowhere. */
export type CaptureMode = (typeof CAPTURE_MODES)[number];

export interface TelemetrySettings {
  readonly convention: Convention;
  readonly capture: CaptureMode;
  /** How captured content shows Anthropic's server tools. */
  readonly representation: Representation;
  readonly agentName: string;
  /** The address of the model's API. */
  readonly server: { readonly address: string; readonly port: number };
}

interface Providers {
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
  readonly loggerProvider?: LoggerProvider;
}

/** Where spans, measurements and events are sent, and the settings. */
export interface Telemetry extends TelemetrySettings {
  readonly tracer: Pick<Tracer, "startSpan">;
  readonly instruments: Instruments;
  readonly events: Logger;
}

const SCOPE = "parley";

const DEFAULTS: TelemetrySettings = {
  convention: "1.41",
  capture: "NO_CONTENT",
  representation: "server_tool_call",
  agentName: "parley",
  server: { address: "api.anthropic.com", port: 443 },
};

/**
 * Creates what records telemetry. A missing provider defaults to the provider registered in this process. If none is
 * registered, nothing is recorded.
 */
export function createTelemetry(settings: Partial<TelemetrySettings> = {}, providers: Providers = {}): Telemetry {
  const { tracerProvider = trace, meterProvider = metrics, loggerProvider = logs } = providers;
  const all = { ...DEFAULTS, ...settings };
  return {
    ...all,
    tracer: tracerProvider.getTracer(SCOPE),
    instruments: createInstruments(meterProvider.getMeter(SCOPE), all.convention),
    events: loggerProvider.getLogger(SCOPE),
  };
}

export function capturesSpans({ capture }: Pick<TelemetrySettings, "capture">): boolean {
  return capture === "SPAN_ONLY" || capture === "SPAN_AND_EVENT";
}

export function capturesEvents({ capture }: Pick<TelemetrySettings, "capture">): boolean {
  return capture === "EVENT_ONLY" || capture === "SPAN_AND_EVENT";
}
