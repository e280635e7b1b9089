import { pino, type Logger as PinoLogger } from "pino";
import { build as pretty } from "pino-pretty";
import { type Config } from "./config.ts";
import { describeError } from "./describe-error.ts";

export type Logger = PinoLogger;

/**
 * The log of one process. Writes to stderr only, synchronously (nothing is lost at exit): stdout belongs to the ready
 * line. Readable in a terminal, JSON elsewhere, unless LOG_FORMAT says which.
 */
export function createLogger({ logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">): Logger {
  const isPretty = logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY);
  const options = {
    level: logLevel,
    base: { pid: process.pid },
    serializers: { error: describeError, err: describeError },
  };
  const destination = isPretty
    ? pretty({ destination: 2, sync: true, colorize: process.stderr.isTTY, ignore: "pid,hostname" })
    : pino.destination({ dest: 2, sync: true });
  return pino(options, destination);
}
