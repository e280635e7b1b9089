import { multistream, pino, type Logger as PinoLogger } from "pino";
import { build as pretty } from "pino-pretty";
import { type Config } from "../config.ts";
import { describeError } from "./describe-error.ts";
import { activeTrace } from "../../telemetry/active-trace.ts";

export type Logger = PinoLogger;

/**
 * The log of one process. Writes to stderr only, synchronously (nothing is lost at exit): stdout belongs to the ready
 * line. Readable in a terminal, JSON elsewhere, unless LOG_FORMAT says which.
 *
 * @param also gets every line, too, as JSON
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">,
  also?: { readonly write: (line: string) => void },
): Logger {
  const isPretty = logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY);
  const options = {
    level: logLevel,
    base: { pid: process.pid },
    mixin: activeTrace,
    serializers: { error: describeError, err: describeError },
  };
  const destination = isPretty
    ? pretty({ destination: 2, sync: true, colorize: process.stderr.isTTY, ignore: "pid,hostname", singleLine: true })
    : pino.destination({ dest: 2, sync: true });
  if (!also) return pino(options, destination);
  const streams = [destination, also].map((stream) => ({ level: "trace" as const, stream }));
  return pino(options, multistream(streams));
}
