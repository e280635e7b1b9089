import { randomBytes } from "node:crypto";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const USAGE = `Usage: npm run talk -- [options]

Talks to a running Parley worker as a participant. Type a sentence; Ctrl-C stops the answer, or leaves.

  --room <name>       the room to join (default: a fresh one)
  --identity <name>   who you are in it (default: a fresh one)
  --http <url>        Parley's HTTP server (default: http://127.0.0.1:$HTTP_PORT, or port 8080)
  --folder <dir>      lets the assistant read files in this folder (default: none is offered)
  --say <text>        one turn: say this, print the answer, leave; given again: a further turn. Stdin is not read
  --json              events as JSON lines on stdout, and nothing else there
  --timeout <s>       how long a turn may take (default: 120)
  --help              this text

Environment: HTTP_PORT, TOKEN_SECRET (sent with the request for a token).`;

export interface TalkOptions {
  readonly room: string;
  readonly identity: string;
  readonly httpUrl: string;
  readonly tokenSecret: string | undefined;
  readonly folder: string | undefined;
  /** The messages to send, one turn each. If empty, lines are read from the terminal. */
  readonly say: readonly string[];
  readonly isJson: boolean;
  readonly timeoutMs: number;
}

const FLAGS = {
  room: { type: "string" },
  identity: { type: "string" },
  http: { type: "string" },
  folder: { type: "string" },
  say: { type: "string", multiple: true },
  json: { type: "boolean", default: false },
  timeout: { type: "string", default: "120" },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): TalkOptions | undefined {
  const { room, identity, http, folder, say = [], json, timeout, help } = readFlags(args, FLAGS);
  if (help) return undefined;
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= 3_600))
    throw new UsageError("--timeout: expected a number of seconds above 0 and up to 3600");
  if (say.some((text) => text.trim() === "")) throw new UsageError("--say: the text must not be blank");
  return {
    room: room ?? `talk-${randomBytes(4).toString("hex")}`,
    identity: identity ?? `me-${randomBytes(3).toString("hex")}`,
    httpUrl: readUrl(http ?? `http://127.0.0.1:${environment["HTTP_PORT"] || "8080"}`),
    tokenSecret: environment["TOKEN_SECRET"] || undefined,
    folder,
    say,
    isJson: json,
    timeoutMs: seconds * 1_000,
  };
}

/** Returns an HTTP or HTTPS URL without a final slash. @throws {UsageError} */
export function readUrl(text: string, flag = "--http"): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new UsageError(`${flag}: expected a URL such as http://127.0.0.1:8080`);
  }
  return url.href.replace(/\/$/, "");
}
