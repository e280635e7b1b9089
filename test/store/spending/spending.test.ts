import { expect, test } from "vitest";
import {
  addSpending,
  eraseSpending,
  loadSpent,
  returnWarning,
  takeWarning,
} from "../../../src/store/spending/spending.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const step = { model: "m", purpose: "step", calls: 1, money: 0.1 };
const tokens = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };

test("sessions that spend at the same moment lose nothing, and none waits for another", async () => {
  const spenders = Array.from({ length: 60 }, (_, index) => ({
    sessionId: `s${index % 20}`,
    identity: `p${index % 3}`,
    worker: "host",
  }));

  await Promise.all(spenders.map((spender) => addSpending(database.sql, { ...spender, ...step, ...tokens })));

  const spent = await loadSpent(database.sql, { sessionId: "s1", identity: "p1", worker: "host" });
  expect(spent).toEqual({
    session: { tokens: 30, money: 0.3 },
    identity: { tokens: 200, money: 2 },
    worker: { tokens: 600, money: 6 },
  });
});

test("of several simultaneous callers, one is told to warn: once for a session, once a day for an identity", async () => {
  const { sql } = database;
  const spender = { sessionId: "warned", identity: "warned", worker: "host" };
  const claims = async (scope: "session" | "identity") =>
    (await Promise.all(Array.from({ length: 5 }, () => takeWarning(sql, spender, scope)))).filter(Boolean).length;

  expect([await claims("session"), await claims("identity")]).toEqual([1, 1]);
  await sql`update budget_warnings set day = day - 1 where scope = 'identity'`;
  expect([await claims("session"), await claims("identity")]).toEqual([0, 1]);
  for (const scope of ["session", "identity"] as const) await returnWarning(sql, spender, scope);
  expect([await claims("session"), await claims("identity")]).toEqual([1, 1]);
});

test("a person who erases their data keeps today's spending, without the name, until the day is over", async () => {
  const { sql } = database;
  const spender = { sessionId: "erased", identity: "erased", worker: "host" };
  const spend = () => addSpending(sql, { ...spender, ...step, ...tokens });
  await spend();
  await addSpending(sql, { ...spender, ...step, ...tokens, purpose: "summary" });

  expect(await eraseSpending(sql, spender)).toBe(2);
  await spend();
  expect(await eraseSpending(sql, spender)).toBe(1);

  expect((await loadSpent(sql, spender)).identity).toEqual({ tokens: 30, money: 0.3 });
  expect(await sql`select from spending where scope = 'identity' and key = 'erased'`).toHaveLength(0);
  await sql`update spending set day = day - 1 where scope = 'identity' and key like 'erased%'`;
  expect((await loadSpent(sql, spender)).identity).toEqual({ tokens: 0, money: 0 });
});
