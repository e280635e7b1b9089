import { readUrl } from "../talk/options.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const ERASE_USAGE = `Usage: npm run parley -- erase --identity <name> [options]

Removes all that is stored of a participant, in all rooms, and prints what was removed. It cannot be undone.

  --identity <name>   the participant
  --http <url>        Parley's HTTP server (default: http://127.0.0.1:$HTTP_PORT, or port 8080)
  --help              this text

Environment: HTTP_PORT, TOKEN_SECRET (sent with the request for a token).`;

export interface EraseOptions {
  readonly identity: string;
  readonly httpUrl: string;
  readonly tokenSecret: string | undefined;
}

const FLAGS = {
  identity: { type: "string" },
  http: { type: "string" },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseEraseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): EraseOptions | undefined {
  const { identity, http, help } = readFlags(args, FLAGS);
  if (help) return undefined;
  if (identity === undefined || identity === "") throw new UsageError("--identity: expected a participant's identity");
  return {
    identity,
    httpUrl: readUrl(http ?? `http://127.0.0.1:${environment["HTTP_PORT"] || "8080"}`),
    tokenSecret: environment["TOKEN_SECRET"] || undefined,
  };
}
