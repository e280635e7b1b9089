import { diag } from "@opentelemetry/api";

/**
 * Runs code of telemetry so that it cannot hurt what is watched: when a span processor, an exporter or our own code
 * throws, a span or a measurement is missing, and nothing else happens.
 */
export function quietly<T>(watch: () => T): T | undefined {
  try {
    return watch();
  } catch {
    diag.error("Telemetry has failed, and a span or a measurement is lost");
    return undefined;
  }
}
