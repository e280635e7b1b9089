import { expect, test } from "vitest";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newTurn, storedRoom, writerOf } from "../../store/store-fixtures.ts";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url }));

async function talksOf(identity: string): Promise<unknown> {
  const response = await server.getAs(await roomToken("any room", { identity }), "/sessions");
  expect(response.status).toBe(200);
  return response.json();
}

async function say(sessionId: string, participantIdentity: string, text: string): Promise<string> {
  const turn = newTurn({ participantIdentity, input: [{ type: "text", text }] });
  await insertTurn(writerOf(database.sql, sessionId), turn);
  return turn.id;
}

test("a person sees the sessions in which they spoke, newest first, without others' words", async () => {
  const [kitchen, study] = [await storedRoom(database.sql), await storedRoom(database.sql)];
  await say(kitchen.sessionId, "bob", "A secret");
  await say(kitchen.sessionId, "ann", "What shall I cook?");
  await say(kitchen.sessionId, "ann", "And then?");
  await say(study.sessionId, "ann", "Read to me. ".repeat(50));

  expect(await talksOf("ann")).toEqual([
    {
      id: study.sessionId,
      conversationId: study.room,
      room: study.room,
      turns: 1,
      firstAt: expect.any(Number) as number,
      lastAt: expect.any(Number) as number,
      firstSaid: "Read to me. ".repeat(50).slice(0, 200),
    },
    expect.objectContaining({ room: kitchen.room, turns: 2, firstSaid: "What shall I cook?" }),
  ]);
  expect(await talksOf("bob")).toMatchObject([{ room: kitchen.room, turns: 1, firstSaid: "A secret" }]);
  expect(await talksOf("carol")).toEqual([]);
});

test("an edited message is counted once, and shown with its latest text", async () => {
  const { sessionId } = await storedRoom(database.sql);
  const first = await say(sessionId, "dora", "Tell me a long story");
  const second = await say(sessionId, "dora", "Tell me a short story");
  await database.sql`update turns set superseded_by = ${second} where id = ${first}`;

  expect(await talksOf("dora")).toMatchObject([{ turns: 1, firstSaid: "Tell me a short story" }]);
});
