import { recordSession } from "../../testing/recording/record-session.ts";
import { databaseAddress, namedDatabase } from "../database-address.ts";
import { toDatabaseError } from "../database-error.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const RECORD_USAGE = `Usage: npm run parley -- record --room <name> [options]

Makes a test of a stored session, for npm run parley -- test, and its cassette.

  --room <name>       the room of the session
  --config <file>     the agent's config (default: parley.config.ts)
  --out <file>        the test (default: <room>.talk.yaml)
  --help              this text

What looks like a key, an e-mail address or a number of a person is removed. Names are not: read both files.

Environment: DATABASE_URL, DATABASE_DIRECT_URL, PGPASSWORD.`;

const FLAGS = {
  room: { type: "string" },
  config: { type: "string", default: "parley.config.ts" },
  out: { type: "string" },
} as const;

interface RecordOptions {
  readonly room: string;
  readonly config: string;
  readonly file: string;
  readonly databaseUrl: string;
}

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseRecordOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RecordOptions | undefined {
  const { room, config, out, help } = readFlags(args, FLAGS);
  if (help) return undefined;
  if (room === undefined || room === "") throw new UsageError("--room: expected a room's name");
  const file = out ?? `${room.replaceAll(/[^\w.-]/gu, "_")}.talk.yaml`;
  if (!/\.talk\.ya?ml$/u.test(file)) throw new UsageError("--out: expected a name that ends in .talk.yaml");
  const setting = namedDatabase(environment);
  if (!setting) throw new UsageError("DATABASE_URL: expected the address of the database with the session");
  return { room, config, file, databaseUrl: databaseAddress(setting, environment) };
}

/** @returns what was written, as a sentence for people. @throws {TalkError} */
export async function runRecord(options: RecordOptions): Promise<string> {
  const { cassette, turns, endsBecause } = await recordSession(options).catch((error: unknown) => {
    throw toDatabaseError(error, options.databaseUrl);
  });
  const written = `${options.file} and ${cassette}: ${turns} turns`;
  return endsBecause === undefined ? written : `${written}; ${endsBecause}`;
}
