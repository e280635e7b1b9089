import { type Convention } from "../../telemetry/names.ts";
import { type CaptureMode } from "../../telemetry/telemetry.ts";

/** What of our telemetry leaves over OTLP, and in which words. */
export interface OtelConfig {
  /** `OTEL_SDK_DISABLED`: nothing is recorded, /metrics is empty. */
  readonly isDisabled: boolean;
  readonly exports: { readonly traces: boolean; readonly metrics: boolean; readonly logs: boolean };
  readonly convention: Convention;
  readonly capture: CaptureMode;
}
