import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { writeTranscript } from "../../../src/http/transcript/write-transcript.ts";
import { loadSession } from "../../../src/store/sessions/sessions.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import { newTurn, storedRoom, textBlock, writerOf } from "../../store/store-fixtures.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forEachTest(tempDatabase);
const server = forEachTest(() => EventServer.start({ databaseUrl: database.url }));

/** A session with this many turns, each with an answer of this many characters. */
async function longTalk(turns: number, characters: number): Promise<{ room: string; sessionId: string }> {
  const talk = await storedRoom(database.sql);
  const writer = writerOf(database.sql, talk.sessionId);
  for (let position = 1; position <= turns; position++) {
    const turn = newTurn({ messageId: `answer-${position}` });
    await insertTurn(writer, turn);
    const text = randomBytes(characters / 2).toString("hex");
    await insertBlocks(writer, [{ turnId: turn.id, block: textBlock(0, text) }]);
  }
  return talk;
}

test("later turns are read only once the earlier ones have been sent", async () => {
  const { room } = await longTalk(30, 100);
  const session = await loadSession(database.sql, { conversationId: room });
  if (!session) throw new Error("no session");
  const pieces = writeTranscript("json", { sql: database.sql, session, showsOriginals: false });

  const head = [await pieces.next(), await pieces.next()];
  await database.sql`delete from turns where position > 20`;
  const rest = await Array.fromAsync(pieces);

  const text = [...head.map(({ value }) => value as string), ...rest].join("");
  expect((JSON.parse(text) as { turns: unknown[] }).turns).toHaveLength(20);
});

test("a transcript whose rest cannot be read breaks off, and is never mistaken for a complete one", async () => {
  const { room, sessionId } = await longTalk(100, 200_000);
  const response = await server.getAs(await roomToken(room), `/session/${sessionId}/transcript`);

  await database.sql`alter table turns rename to elsewhere`;

  await expect(response.text()).rejects.toThrow("terminated");
});
