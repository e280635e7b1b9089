import { pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { forTerminal } from "../../conversation/turn-lines.ts";
import { isRecord } from "../../lib/json.ts";
import type { Config } from "../config.ts";

/** Where a process writes its log: stderr. */
export interface LogOutput {
  /** Writes a line of JSON, formatted as LOG_FORMAT says. */
  readonly write: (line: string) => void;
  /** Writes text as it is. */
  readonly print: (text: string) => void;
}

/** Fields that tell processes and sessions apart for operators, and that only take up space on an author's screen. */
const NOT_IN_DEVELOPMENT = ["jobId", "turnId", "callId"];
/** Messages about what the development view shows in another form. */
const SHOWN_BY_VIEW: ReadonlySet<unknown> = new Set([
  "turn ended",
  "call ended",
  "permission requested",
  "permission decided",
]);
const INFO = 30;

/**
 * Opens the output of this process. It writes synchronously, so that no line is lost at exit. Lines are readable in
 * development and, unless LOG_FORMAT is `json`, in a terminal.
 */
export function openLogOutput({ logFormat, isDevelopment }: Pick<Config, "logFormat" | "isDevelopment">): LogOutput {
  const stderr = pino.destination({ dest: 2, sync: true });
  const isPretty = isDevelopment || logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY);
  const print = (text: string) => void stderr.write(text);
  if (!isPretty) return { write: print, print };
  const pretty = prettyFactory({
    colorize: process.stderr.isTTY && process.stderr.hasColors(),
    translateTime: "SYS:HH:MM:ss",
    ignore: ["pid", "hostname", "trace_id", "span_id", ...(isDevelopment ? NOT_IN_DEVELOPMENT : [])].join(","),
    singleLine: true,
  });
  const write = (line: string) => {
    const { error, ...fields } = JSON.parse(line) as Record<string, unknown>;
    if (isDevelopment && fields["level"] === INFO && SHOWN_BY_VIEW.has(fields["msg"])) return;
    const stack = stackOf(error);
    print(stack === undefined ? pretty({ ...fields, ...(error !== undefined && { error }) }) : pretty(fields) + stack);
  };
  return { write, print };
}

/** Returns the stack of an error that was described with its stack, and of its causes, indented. */
function stackOf(error: unknown): string | undefined {
  if (!isRecord(error) || typeof error["stack"] !== "string") return undefined;
  const own = forTerminal(error["stack"]).replaceAll(/^/gmu, "    ");
  const cause = stackOf(error["cause"]);
  return cause === undefined ? `${own}\n` : `${own}\n    caused by:\n${cause}`;
}
