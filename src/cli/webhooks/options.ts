import { databaseAddress, namedDatabase } from "../database-address.ts";
import { readFlags, UsageError } from "../../worker/settings/command-line.ts";

export const WEBHOOKS_USAGE = `Usage: npm run parley -- webhooks [options]

Lists the webhooks that have not been delivered, those that wait and those that were given up: a line of JSON each.

  --retry <id>        has a worker send this one again at once, delivered or not; may be given several times
  --retry-dead        the same for all that were given up
  --database <url>    the worker's PostgreSQL (default: $DATABASE_DIRECT_URL, else $DATABASE_URL)
  --help              this text

Environment: DATABASE_URL, DATABASE_DIRECT_URL, PGPASSWORD. A worker with WEBHOOK_URL sends what is to be sent.`;

export interface WebhooksOptions {
  readonly databaseUrl: string;
  /** Ids of the webhooks to send again, or `dead` for all dead webhooks. If undefined, webhooks are listed. */
  readonly retry: readonly string[] | "dead" | undefined;
}

const FLAGS = {
  retry: { type: "string", multiple: true },
  "retry-dead": { type: "boolean", default: false },
  database: { type: "string" },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseWebhooksOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): WebhooksOptions | undefined {
  const { retry, "retry-dead": isAllDead, database, help } = readFlags(args, FLAGS);
  if (help) return undefined;
  if (retry && isAllDead) throw new UsageError("--retry-dead: cannot be combined with --retry");
  const setting = database === undefined ? namedDatabase(environment) : { name: "--database", url: database };
  if (!setting)
    throw new UsageError("--database: expected the address of the worker's PostgreSQL here or in DATABASE_URL");
  return { databaseUrl: databaseAddress(setting, environment), retry: isAllDead ? "dead" : retry };
}
