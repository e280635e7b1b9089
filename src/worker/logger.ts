import { inspect } from "node:util";
import { type Logger as PinoLogger, multistream, pino } from "pino";
import { AppError } from "../errors/app-error.ts";
import { hideSecrets } from "../lib/checks/hide-secrets.ts";
import { isOwnFrame } from "../lib/modules/import-error.ts";
import { activeTrace } from "../telemetry/trace-context.ts";
import type { Config } from "./config.ts";
import type { LogOutput } from "./terminal/log-output.ts";

export type Logger = PinoLogger;

interface LoggerParts {
  readonly output: Pick<LogOutput, "write">;
  /** A second destination, which receives every line as JSON, without the stacks of the development view. */
  readonly also?: { readonly write: (line: string) => void } | undefined;
}

/** Creates a process's logger. */
export function createLogger(
  { logLevel, isDevelopment }: Pick<Config, "logLevel" | "isDevelopment">,
  { output, also }: LoggerParts,
): Logger {
  const isDebug = logLevel === "debug" || logLevel === "trace";
  const describe = (error: unknown) => describeError(error, { isDevelopment, isDebug });
  const options = {
    level: logLevel,
    base: { pid: process.pid },
    mixin: activeTrace,
    serializers: { error: describe, err: describe },
    hooks: { streamWrite: hideSecrets },
  };
  if (!also) return pino(options, output);
  const withoutStacks = { write: (line: string) => also.write(isDevelopment ? withoutContent(line) : line) };
  const streams = [output, withoutStacks].map((stream) => ({ level: "trace" as const, stream }));
  return pino(options, multistream(streams));
}

/** Only `describeError` writes fields with the name `stack`, and only in development. */
function withoutContent(line: string): string {
  return JSON.stringify(JSON.parse(line, (key, value: unknown) => (key === "stack" ? undefined : value)));
}

interface ErrorDescription {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly at?: readonly string[];
  /** The error's stack, which begins with its message. */
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

const MAX_FRAMES = 8;

/**
 * Describes an error without content. The message of an AppError is included. Any other error's message may quote what
 * a participant said, so only its type, code and stack locations are included: the first one in the author's own code,
 * or all of them if there is none, or if `isDebug` is set. In development, the stack with its message is included too.
 */
export function describeError(
  error: unknown,
  { isDevelopment = false, isDebug = false }: { readonly isDevelopment?: boolean; readonly isDebug?: boolean } = {},
): ErrorDescription | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) return { type: typeof error, ...(isDevelopment && { stack: textOf(error) }) };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const described = describeError(error.cause, { isDevelopment, isDebug });
  const cause = described && { cause: described };
  if (error instanceof AppError) return { type: error.name, ...code, message: error.message, ...cause };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /u.test(line));
  const own = isDebug ? undefined : frames.find(isOwnFrame);
  const at = own === undefined ? frames.slice(0, MAX_FRAMES) : [own];
  return {
    type: error.name,
    ...code,
    at: at.map((line) => line.trim()),
    ...(isDevelopment && { stack: error.stack ?? `${error.name}: ${error.message}` }),
    ...cause,
  };
}

function textOf(thrown: unknown): string {
  return typeof thrown === "string" ? thrown : inspect(thrown, { depth: 1, maxStringLength: 1_000 });
}
