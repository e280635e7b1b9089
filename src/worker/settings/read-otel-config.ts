import { type Environment } from "./environment.ts";
import { type OtelConfig } from "../otel-config.ts";

const LATEST = "gen_ai_latest_experimental";

/** A signal goes out when there is an endpoint for it, or for all. Where to and how is the exporters' own business. */
export function readOtelConfig(variables: Environment): OtelConfig {
  const isDisabled = variables.OTEL_SDK_DISABLED === "true";
  const isOn = (exporter: "otlp" | "none", endpoint: string | undefined) =>
    !isDisabled && exporter === "otlp" && (endpoint ?? variables.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  const optIns = (variables.OTEL_SEMCONV_STABILITY_OPT_IN ?? "").split(",").map((word) => word.trim());
  return {
    isDisabled,
    exports: {
      traces: isOn(variables.OTEL_TRACES_EXPORTER, variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
      metrics: isOn(variables.OTEL_METRICS_EXPORTER, variables.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT),
      logs: isOn(variables.OTEL_LOGS_EXPORTER, variables.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT),
    },
    sampler: { name: variables.OTEL_TRACES_SAMPLER, ratio: variables.OTEL_TRACES_SAMPLER_ARG },
    convention: optIns.includes(LATEST) ? "latest" : "1.41",
    capture: variables.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  };
}
