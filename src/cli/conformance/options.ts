import { readUrl } from "../talk/options.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const USAGE = `Usage: npm run conformance -- client [options] -- <command>
       npm run conformance -- worker --url <url> [options]

client  plays the worker to the client that <command> starts, once for each room
worker  plays participants to the worker whose HTTP server is at <url>

  --url <url>         the worker's HTTP server, as http://127.0.0.1:8080
  --expected <file>   ids of checks that are known to fail, one a line; one that does not fail is an error, too
  --json <file>       writes the verdicts as JSON
  --html <file>       writes them as a page
  --help              this text

Exits with 0 when all that is a MUST holds, 1 when not, 2 for a wrong command line, and 3 when the kit itself is at fault.

Environment: LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET (client; without them a livekit-server is started),
TOKEN_SECRET (worker; sent with the request for a token).`;

interface Outputs {
  readonly expected: string | undefined;
  readonly json: string | undefined;
  readonly html: string | undefined;
}

export type ConformanceOptions = Outputs &
  (
    | { readonly role: "client"; readonly command: readonly string[] }
    | { readonly role: "worker"; readonly url: string }
  );

const FLAGS = {
  url: { type: "string" },
  expected: { type: "string" },
  json: { type: "string" },
  html: { type: "string" },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseConformanceOptions(words: readonly string[]): ConformanceOptions | undefined {
  const [role = "", ...args] = words;
  if (role.startsWith("-") && readFlags(words, FLAGS).help) return undefined;
  if (role !== "client" && role !== "worker") throw new UsageError('expected "client" or "worker"');
  const separator = args.indexOf("--");
  const ownArgs = separator === -1 ? args : args.slice(0, separator);
  const { url, expected, json, html, help } = readFlags(ownArgs, FLAGS);
  if (help) return undefined;
  const outputs = { expected, json, html };
  if (role === "worker") {
    if (url === undefined) throw new UsageError("--url: expected the address of the worker's HTTP server");
    return { role, url: readUrl(url, "--url"), ...outputs };
  }
  const command = separator === -1 ? [] : args.slice(separator + 1);
  if (command.length === 0) throw new UsageError("expected the client's command after --");
  return { role, command, ...outputs };
}
