import { expect, test } from "vitest";
import { saveCall } from "../../../src/store/calls.ts";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newCall, newTurn, storedRoom, writerOf } from "../../store/store-fixtures.ts";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url }));

/** A session with finished turns. The second turn has a call with this `detail`. */
async function talkWith(detail: "full" | "name") {
  const { room, sessionId } = await storedRoom(database.sql);
  const writer = writerOf(database.sql, sessionId);
  const turns = ["One", "Two"].map((text) => newTurn({ input: [{ type: "text", text }] }));
  for (const turn of turns) await insertTurn(writer, turn);
  await saveCall(writer, newCall(turns[1]?.id ?? "", { detail, toolName: "scan" }));
  await database.sql`update turns set state = 'completed' where session_id = ${sessionId}`;
  return { room, sessionId };
}

const read = async (room: string, sessionId: string) => {
  const response = await server.getAs(await roomToken(room), `/session/${sessionId}/scenario`);
  return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
};

test("a session is returned as a test, without anything that may not be shown", async () => {
  const [whole, secret] = [await talkWith("full"), await talkWith("name")];

  const shown = await read(whole.room, whole.sessionId);
  const cut = await read(secret.room, secret.sessionId);

  expect(shown).toMatchObject({ status: 200, type: "application/yaml; charset=utf-8" });
  expect(shown.body).toContain("user: Two");
  expect(cut.body).toContain("turn 2 is left out: a tool in it shows no details");
  expect(cut.body).not.toMatch(/Two|scan/);
});

test("a session is returned as a test until its record is too large to be converted to YAML at once", async () => {
  const [long, huge] = [await talkWith("full"), await talkWith("full")];
  const padded = { text: "x".repeat(1_500_000) };
  await database.sql`
    update tool_calls set result = ${database.sql.json(padded)} where in_session in (${long.sessionId}, ${huge.sessionId})`;
  await database.sql`delete from turns where session_id = ${huge.sessionId} and position = 1`;

  const cut = await read(long.room, long.sessionId);
  const none = await read(huge.room, huge.sessionId);

  expect(cut.body).toContain("turn 2 is left out: with it the record is over 1048576 bytes");
  expect(cut.body).toContain("user: One");
  expect(cut.body).not.toContain("user: Two");
  expect(none).toMatchObject({ status: 409, body: expect.stringContaining("turn 1 is left out: with it") as string });
});

test("a session without a turn that can be replayed is no test", async () => {
  const { room, sessionId } = await storedRoom(database.sql);
  await insertTurn(writerOf(database.sql, sessionId), newTurn());

  expect(await read(room, sessionId)).toMatchObject({
    status: 409,
    body: expect.stringContaining("turn 1 is left out: it is running") as string,
  });
});

test("only a participant who may join the room gets its test", async () => {
  const { sessionId } = await talkWith("full");
  const { room } = await storedRoom(database.sql);

  expect(await read(room, sessionId)).toMatchObject({ status: 404 });
});
