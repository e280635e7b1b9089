import { diag, DiagLogLevel } from "@opentelemetry/api";
import type { Logger } from "../logger.ts";

const QUIET_MS = 10 * 60_000;

/**
 * Logs when telemetry cannot be delivered, at most every ten minutes. OpenTelemetry's own message is omitted, because
 * it may contain the endpoint's address and key.
 */
export function reportLosses(logger: Pick<Logger, "warn">): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  const error = () => {
    const now = performance.now();
    if (now - reportedAt < QUIET_MS) return;
    reportedAt = now;
    logger.warn("telemetry export failed, retrying");
  };
  const ignore = () => {};
  const reporter = { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(reporter, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}
