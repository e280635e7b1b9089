import { readUrl } from "../talk/options.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const EXPORT_USAGE = `Usage: npm run parley -- export --room <name> [options]

Prints the transcript of a room's whole talk.

  --room <name>       the room
  --format <form>     markdown or json (default: markdown)
  --http <url>        Parley's HTTP server (default: http://127.0.0.1:$HTTP_PORT, or port 8080)
  --help              this text

Environment: HTTP_PORT, TOKEN_SECRET (sent with the request for a token).`;

const FORMATS = ["markdown", "json"] as const;

export interface ExportOptions {
  readonly room: string;
  readonly format: (typeof FORMATS)[number];
  readonly httpUrl: string;
  readonly tokenSecret: string | undefined;
}

const FLAGS = {
  room: { type: "string" },
  format: { type: "string", default: "markdown" },
  http: { type: "string" },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseExportOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ExportOptions | undefined {
  const { room, format, http, help } = readFlags(args, FLAGS);
  if (help) return undefined;
  if (room === undefined || room === "") throw new UsageError("--room: expected a room's name");
  const known = FORMATS.find((each) => each === format);
  if (known === undefined) throw new UsageError(`--format: expected markdown or json, got ${format}`);
  return {
    room,
    format: known,
    httpUrl: readUrl(http ?? `http://127.0.0.1:${environment["HTTP_PORT"] || "8080"}`),
    tokenSecret: environment["TOKEN_SECRET"] || undefined,
  };
}
