import { withoutPreparing } from "../../store/database/database-endpoints.ts";
import { connect, type Sql } from "../../store/database/pool.ts";
import { listUndelivered, retryWebhooks } from "../../store/webhooks/webhooks.ts";
import { TalkError } from "../talk/talk-error.ts";
import { toDatabaseError } from "../database-error.ts";
import type { WebhooksOptions } from "./options.ts";

/** Prints the undelivered webhooks, or schedules those in `retry` to be sent again. @throws {TalkError} */
export async function runWebhooks(
  { databaseUrl, retry }: WebhooksOptions,
  print: (line: string) => void,
): Promise<void> {
  const sql = connect(withoutPreparing(databaseUrl), { maxConnections: 1, applicationName: "parley-webhooks" });
  try {
    const lines = retry === undefined ? await listed(sql) : (await retryWebhooks(sql, retry)).map((id) => ({ id }));
    for (const line of lines) print(JSON.stringify(line));
    const missing = Array.isArray(retry) ? retry.filter((id) => !lines.some((line) => line.id === id)) : [];
    if (missing.length > 0) throw new TalkError(`No webhook has the id ${missing.join(", ")}`);
  } catch (error) {
    throw toDatabaseError(error, databaseUrl);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function listed(sql: Sql) {
  const toText = (moment: number) => new Date(moment).toISOString();
  const webhooks = await listUndelivered(sql);
  return webhooks.map(({ endedAt, dueAt, ...webhook }) => ({
    ...webhook,
    endedAt: toText(endedAt),
    dueAt: dueAt === null ? null : toText(dueAt),
  }));
}
