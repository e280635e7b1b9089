import { type Convention } from "../telemetry/names.ts";
import { type CaptureMode } from "../telemetry/telemetry.ts";

export const SAMPLER_NAMES = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLER_NAMES)[number];

/** What of our telemetry leaves over OTLP, and in which words. */
export interface OtelConfig {
  /** `OTEL_SDK_DISABLED`: nothing is recorded, /metrics is empty. */
  readonly isDisabled: boolean;
  readonly exports: { readonly traces: boolean; readonly metrics: boolean; readonly logs: boolean };
  readonly sampler: { readonly name: SamplerName; readonly ratio: number };
  readonly convention: Convention;
  readonly capture: CaptureMode;
}
