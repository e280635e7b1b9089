import { expect, test } from "vitest";
import { addSpending } from "../../../src/store/spending/spending.ts";
import { storedRoom } from "../../store/store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const budget = { session: { tokens: 1_000 }, identityPerDay: { tokens: 4_000, money: 2 }, workerPerDay: { money: 1 } };
const server = forFile(() => EventServer.start({ databaseUrl: database.url, budget }));

const step = {
  worker: "host",
  model: "claude-test",
  purpose: "step",
  calls: 1,
  inputTokens: 100,
  outputTokens: 20,
  cacheReadTokens: 70,
  cacheWriteTokens: 10,
  money: 0.5,
};

test("a session's usage contains its models, its own budget and the budget of the token's identity", async () => {
  const { room, sessionId } = await storedRoom(database.sql);
  const { sessionId: elsewhere } = await storedRoom(database.sql);
  await addSpending(database.sql, { ...step, sessionId, identity: "ann" });
  await addSpending(database.sql, { ...step, sessionId, identity: "bob", purpose: "summary", money: 0 });
  await addSpending(database.sql, { ...step, sessionId: elsewhere, identity: "ann" });

  const response = await server.getAs(await roomToken(room), `/session/${sessionId}/usage`);

  const { sessionId: _, worker: __, ...tokens } = { ...step, sessionId };
  expect(await response.json()).toEqual({
    models: [tokens, { ...tokens, purpose: "summary", money: 0 }],
    budgets: [
      { budget: "session", used: { tokens: 400, money: 0.5 }, limit: { tokens: 1_000 }, share: 0.4 },
      {
        budget: "identityPerDay",
        used: { tokens: 400, money: 1 },
        limit: { tokens: 4_000, money: 2 },
        share: 0.5,
      },
    ],
  });
});

test("another room's session is not shown", async () => {
  const [{ room }, { sessionId }] = [await storedRoom(database.sql), await storedRoom(database.sql)];

  expect((await server.getAs(await roomToken(room), `/session/${sessionId}/usage`)).status).toBe(404);
});
