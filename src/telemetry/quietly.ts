import { diag } from "@opentelemetry/api";

/**
 * Runs telemetry code without letting its errors affect the code that it observes. If a span processor, an exporter or
 * our own code throws, only a span or a measurement is lost.
 */
export function quietly<T>(watch: () => T): T | undefined {
  try {
    return watch();
  } catch {
    diag.error("Telemetry has failed, and a span or a measurement is lost");
    return undefined;
  }
}
