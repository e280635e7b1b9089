import { randomBytes } from "node:crypto";
import { isRecord } from "../../lib/json.ts";
import { isLanguageTag } from "../../lib/language-tag.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const USAGE = `Usage: npm run talk -- [options]

Talks to a running Parley worker as a participant. Type a sentence; Ctrl-C stops the answer, or leaves.

  --room <name>       the room to join (default: a fresh one)
  --identity <name>   who you are in it (default: a fresh one)
  --name <name>       your name, as others see it (default: none)
  --agent <name>      the agent that serves a new room (default: the one of parley.config.ts)
  --attributes <json> your attributes, such as '{"tier": "gold"}'
  --metadata <text>   your metadata; in a new room, the agent gets it as well, if it is a JSON object
  --language <tag>    your language, such as de
  --mic               talk and listen, with this machine's microphone and loudspeaker
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
  /** What the token says about the participant, besides the room and the identity. */
  readonly about: About;
  readonly language: string | undefined;
  /** Whether the participant speaks and listens. */
  readonly hasSound: boolean;
  readonly httpUrl: string;
  readonly tokenSecret: string | undefined;
  readonly folder: string | undefined;
  /** The messages to send, one turn each. If empty, lines are read from the terminal. */
  readonly say: readonly string[];
  readonly isJson: boolean;
  readonly timeoutMs: number;
}

/** Optional fields of `POST /token`. */
export interface About {
  readonly name?: string;
  readonly agent?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly metadata?: string;
}

const FLAGS = {
  room: { type: "string" },
  identity: { type: "string" },
  name: { type: "string" },
  agent: { type: "string" },
  attributes: { type: "string" },
  metadata: { type: "string" },
  language: { type: "string" },
  mic: { type: "boolean", default: false },
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
  const flags = readFlags(args, FLAGS);
  if (flags.help) return undefined;
  const { room, identity, http, folder, say = [], json, timeout, language, mic } = flags;
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= 3_600))
    throw new UsageError("--timeout: expected a number of seconds above 0 and up to 3600");
  if (say.some((text) => text.trim() === "")) throw new UsageError("--say: the text must not be blank");
  if (!isLanguageTag(language ?? "en"))
    throw new UsageError(`--language: expected a language tag such as de or en-GB, got ${String(language)}`);
  return {
    about: readAbout(flags),
    language,
    hasSound: mic,
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

type AboutFlags = Readonly<Partial<Record<keyof About, string | undefined>>>;

function readAbout({ name, agent, attributes, metadata }: AboutFlags): About {
  return {
    ...(name !== undefined && { name }),
    ...(agent !== undefined && { agent }),
    ...(attributes !== undefined && { attributes: readAttributes(attributes) }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** @throws {UsageError} if the text is not a JSON object of strings */
function readAttributes(text: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value) && Object.values(value).every((each) => typeof each === "string"))
      return value as Readonly<Record<string, string>>;
  } catch {
    // Text that is not JSON is refused like any other value.
  }
  throw new UsageError(`--attributes: expected a JSON object of strings, such as '{"tier": "gold"}'`);
}

/** Returns an HTTP or HTTPS URL without a final slash. @throws {UsageError} */
export function readUrl(text: string, flag = "--http"): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new UsageError(`${flag}: expected a URL such as http://127.0.0.1:8080`);
  }
  return url.href.replace(/\/$/, "");
}
