import { context } from "@opentelemetry/api";
import { type AnyValue, type LoggerProvider, SeverityNumber } from "@opentelemetry/api-logs";
import { quietly } from "../../telemetry/quietly.ts";
import { isRecord } from "../../lib/json.ts";

/** OpenTelemetry's severities by pino's level. */
const SEVERITIES: Readonly<Record<number, readonly [SeverityNumber, string]>> = {
  10: [SeverityNumber.TRACE, "TRACE"],
  20: [SeverityNumber.DEBUG, "DEBUG"],
  30: [SeverityNumber.INFO, "INFO"],
  40: [SeverityNumber.WARN, "WARN"],
  50: [SeverityNumber.ERROR, "ERROR"],
  60: [SeverityNumber.FATAL, "FATAL"],
};

/** Sends Parley's log lines to OpenTelemetry. */
export interface LogStream {
  readonly write: (line: string) => void;
}

export function createLogStream(provider: LoggerProvider): LogStream {
  const logger = provider.getLogger("parley");
  return {
    write: (line) => {
      const fields: unknown = JSON.parse(line);
      if (!isRecord(fields)) return;
      const { level, time, msg, pid: _pid, trace_id: _traceId, span_id: _spanId, ...attributes } = fields;
      const [severityNumber, severityText] = SEVERITIES[Number(level)] ?? [SeverityNumber.UNSPECIFIED, ""];
      const record = {
        severityNumber,
        severityText,
        timestamp: Number(time),
        body: msg as AnyValue,
        attributes: attributes as Record<string, AnyValue>,
        context: context.active(),
      };
      quietly(() => logger.emit(record));
    },
  };
}
