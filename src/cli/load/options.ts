import { readUrl } from "../talk/options.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const USAGE = `Usage: npm run load -- [options]

Fills a running Parley worker with talks, each in a room of its own, and says how long what took. The questions are made
for the scripted model of npm start; another model gets --say.

  --rooms <n>       how many talks at once, 1 to 500 (default: 10)
  --turns <n>       questions in each, 1 to 1000 (default: 5)
  --ramp <s>        the rooms are joined over this time (default: 0, all at once)
  --pause <s>       between two questions of a talk (default: 0)
  --tools <kinds>   client, server or both, with a comma: every second question needs one (default: none)
  --voice <n>       so many of the talks are spoken, not typed, 0 to 100; needs espeak-ng here, a recognizer and a voice
                    there (default: 0)
  --say <text>      ask this instead
  --url <url>       Parley's HTTP server, which may name a LiveKit on another machine (default: http://127.0.0.1:$HTTP_PORT,
                    or port 8080, and a LiveKit on this machine alone); --http is the same
  --timeout <s>     how long a join or an answer may take (default: 60)
  --json            the figures as JSON on stdout, and nothing else there
  --help            this text

Environment: HTTP_PORT, TOKEN_SECRET (sent with the requests for tokens).`;

const KINDS = ["client", "server"] as const;
export type ToolKind = (typeof KINDS)[number];

export interface LoadOptions {
  readonly rooms: number;
  readonly turns: number;
  readonly rampMs: number;
  readonly pauseMs: number;
  readonly tools: readonly ToolKind[];
  /** The number of rooms whose participants speak. */
  readonly voice: number;
  readonly say: string | undefined;
  readonly httpUrl: string;
  /** Whether LiveKit may be on another machine. True only if the command line names the HTTP server. */
  readonly mayGoElsewhere: boolean;
  readonly tokenSecret: string | undefined;
  readonly timeoutMs: number;
  readonly isJson: boolean;
}

const FLAGS = {
  rooms: { type: "string", default: "10" },
  turns: { type: "string", default: "5" },
  ramp: { type: "string", default: "0" },
  pause: { type: "string", default: "0" },
  tools: { type: "string", default: "" },
  voice: { type: "string", default: "0" },
  say: { type: "string" },
  url: { type: "string" },
  http: { type: "string" },
  timeout: { type: "string", default: "60" },
  json: { type: "boolean", default: false },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseLoadOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): LoadOptions | undefined {
  const flags = readFlags(args, FLAGS);
  const { rooms: roomCount, turns, ramp, pause, tools, voice, say, timeout, json, help } = flags;
  if (help) return undefined;
  const url = flags.url ?? flags.http;
  const rooms = readNumber("--rooms", roomCount, { min: 1, max: 500, isWhole: true });
  return {
    rooms,
    turns: readNumber("--turns", turns, { min: 1, max: 1_000, isWhole: true }),
    rampMs: readNumber("--ramp", ramp, { min: 0, max: 3_600 }) * 1_000,
    pauseMs: readNumber("--pause", pause, { min: 0, max: 3_600 }) * 1_000,
    tools: readKinds(tools),
    // At most 100, because this process alone encodes the audio for all rooms.
    voice: readNumber("--voice", voice, { min: 0, max: Math.min(rooms, 100), isWhole: true }),
    say,
    httpUrl: readUrl(url ?? `http://127.0.0.1:${environment["HTTP_PORT"] || "8080"}`, "--url"),
    mayGoElsewhere: url !== undefined,
    tokenSecret: environment["TOKEN_SECRET"] || undefined,
    timeoutMs: readNumber("--timeout", timeout, { min: 1, max: 3_600 }) * 1_000,
    isJson: json,
  };
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

function readNumber(name: string, text: string, { min, max, isWhole = false }: Range): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`${name}: expected a ${isWhole ? "whole " : ""}number from ${min} to ${max}, got ${text}`);
}

function readKinds(text: string): ToolKind[] {
  return text
    .split(",")
    .filter(Boolean)
    .map((name) => {
      const kind = KINDS.find((each) => each === name);
      if (kind === undefined) throw new UsageError(`--tools: expected client, server or both, got ${name}`);
      return kind;
    });
}
