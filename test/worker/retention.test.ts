import { pino } from "pino";
import { expect, test } from "vitest";
import { releaseLease } from "../../src/store/sessions/leases.ts";
import { startRetention } from "../../src/worker/retention.ts";
import { storedSession } from "../store/store-fixtures.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";

const database = forFile(tempDatabase);

test("everything older than the retention period is deleted soon after the start, however much it is, and the rest stays", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await releaseLease(writer);
  await sql`
    insert into turns (id, session_id, position, participant_identity, message_id, state, created_at)
    select 't' || n, ${writer.lease.sessionId}, n, 'ann', 'm' || n, 'completed', now() - (251 - n) * interval '1 day'
    from generate_series(1, 250) as n
  `;

  const retention = startRetention({ days: 30, sql, logger: pino({ level: "silent" }) });

  await expect
    .poll(async () => (await sql`select min(position) as first from turns`)[0], { timeout: 10_000 })
    .toEqual({ first: 222 });
  await retention.close();
});
