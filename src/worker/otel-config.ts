import type { Convention } from "../telemetry/names.ts";
import type { CaptureMode } from "../telemetry/telemetry.ts";

export const SAMPLER_NAMES = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLER_NAMES)[number];

/** Which telemetry is exported over OTLP, and with which conventions. */
export interface OtelConfig {
  /** Whether `OTEL_SDK_DISABLED` is set. Then nothing is recorded, and /metrics is empty. */
  readonly isDisabled: boolean;
  readonly exports: { readonly traces: boolean; readonly metrics: boolean; readonly logs: boolean };
  /** Milliseconds between two exports of metrics. */
  readonly metricsEveryMs: number;
  readonly sampler: { readonly name: SamplerName; readonly ratio: number };
  readonly convention: Convention;
  readonly capture: CaptureMode;
}
