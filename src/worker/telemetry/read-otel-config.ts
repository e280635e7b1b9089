import { type Environment } from "../environment.ts";
import { type OtelConfig } from "./otel-config.ts";

const LATEST = "gen_ai_latest_experimental";

/** A signal goes out when there is an endpoint for it, or for all. Where to and how is the exporters' own business. */
export function readOtelConfig(variables: Environment): OtelConfig {
  const isDisabled = variables.OTEL_SDK_DISABLED === "true";
  const isOn = (endpoint: string | undefined) =>
    !isDisabled && (endpoint ?? variables.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  const optIns = (variables.OTEL_SEMCONV_STABILITY_OPT_IN ?? "").split(",").map((word) => word.trim());
  return {
    isDisabled,
    exports: {
      traces: isOn(variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
      metrics: isOn(variables.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT),
      logs: isOn(variables.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT),
    },
    convention: optIns.includes(LATEST) ? "latest" : "1.41",
    capture: variables.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  };
}
