import { expect, test } from "vitest";
import { addSpending, takeWarning, loadSpent } from "../../../src/store/spending/spending.ts";
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

test("of all that ask at once, one is to warn: of a session once, of an identity once a day", async () => {
  const { sql } = database;
  const spender = { sessionId: "warned", identity: "warned", worker: "host" };
  const claims = async (scope: "session" | "identity") =>
    (await Promise.all(Array.from({ length: 5 }, () => takeWarning(sql, spender, scope)))).filter(Boolean).length;

  expect([await claims("session"), await claims("identity")]).toEqual([1, 1]);
  await sql`update budget_warnings set day = day - 1 where scope = 'identity'`;
  expect([await claims("session"), await claims("identity")]).toEqual([0, 1]);
});
