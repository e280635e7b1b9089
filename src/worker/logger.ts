import { inspect } from "node:util";
import { type Logger as PinoLogger, multistream, pino } from "pino";
import { build as pretty } from "pino-pretty";
import { AppError } from "../errors/app-error.ts";
import { hideSecrets } from "../lib/checks/hide-secrets.ts";
import { activeTrace } from "../telemetry/trace-context.ts";
import type { Config } from "./config.ts";

export type Logger = PinoLogger;

/**
 * Creates a process's logger. It writes to stderr, because stdout is reserved for the ready line. It writes
 * synchronously, so that no line is lost at exit. With LOG_FORMAT `auto`, lines are formatted for people in a terminal
 * and written as JSON elsewhere.
 *
 * @param more.isOwnMachine whether the process runs on the author's own machine; if so, errors include their messages
 * (`describeError`)
 * @param more.also a second destination, which receives every line as JSON
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">,
  more: { readonly isOwnMachine: boolean; readonly also?: { readonly write: (line: string) => void } | undefined },
): Logger {
  const isPretty = logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY);
  const describe = (error: unknown) => describeError(error, more);
  const options = {
    level: logLevel,
    base: { pid: process.pid },
    mixin: activeTrace,
    serializers: { error: describe, err: describe },
    hooks: { streamWrite: hideSecrets },
  };
  const destination = isPretty
    ? pretty({ destination: 2, sync: true, colorize: process.stderr.isTTY, ignore: "pid,hostname", singleLine: true })
    : pino.destination({ dest: 2, sync: true });
  if (!more.also) return pino(options, destination);
  const streams = [destination, more.also].map((stream) => ({ level: "trace" as const, stream }));
  return pino(options, multistream(streams));
}

interface ErrorDescription {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly at?: readonly string[];
  readonly cause?: ErrorDescription;
}

/**
 * Describes an error without content. The message of an AppError is included. Any other error's message may quote what
 * a participant said, so only its type, code and stack locations are included. On an author's own machine (under
 * `parley start`), the message is included too.
 */
export function describeError(
  error: unknown,
  { isOwnMachine }: { readonly isOwnMachine: boolean } = { isOwnMachine: false },
): ErrorDescription | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) return { type: typeof error, ...(isOwnMachine && { message: textOf(error) }) };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause = describeError(error.cause, { isOwnMachine });
  if (error instanceof AppError) return { type: error.name, ...code, message: error.message, ...(cause && { cause }) };
  const at = (error.stack ?? "").split("\n").filter((line) => /^\s+at /u.test(line));
  return {
    type: error.name,
    ...code,
    ...(isOwnMachine && { message: error.message }),
    at: at.slice(0, 8).map((line) => line.trim()),
    ...(cause && { cause }),
  };
}

function textOf(thrown: unknown): string {
  return typeof thrown === "string" ? thrown : inspect(thrown, { depth: 1, maxStringLength: 1_000 });
}
