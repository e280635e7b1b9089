import { diag } from "@opentelemetry/api";

/**
 * Watches without hurting what is watched: where a span processor, an exporter or our own code throws, something is
 * missing in the telemetry, and nothing else happens.
 */
export function quietly<T>(watch: () => T): T | undefined {
  try {
    return watch();
  } catch {
    diag.error("Telemetry has failed, and a span or a measurement is lost");
    return undefined;
  }
}
