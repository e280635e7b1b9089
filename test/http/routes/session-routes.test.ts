import { expect, test } from "vitest";
import { saveCall } from "../../../src/store/calls.ts";
import { releaseLease } from "../../../src/store/sessions/leases.ts";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newCall, newTurn, storedRoom, writerOf } from "../../store/store-fixtures.ts";

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

async function send(identity: string, path: string, init: RequestInit): Promise<readonly [number, unknown]> {
  const headers = {
    authorization: `Bearer ${await roomToken("any room", { identity })}`,
    ...(init.body !== undefined && { "content-type": "application/json" }),
  };
  const response = await fetch(`${server.url}${path}`, { ...init, headers });
  return [response.status, await response.json()];
}

const rename = (identity: string, id: string, title: string) =>
  send(identity, `/sessions/${id}`, { method: "PATCH", body: JSON.stringify({ title }) });
const remove = (identity: string, id: string) => send(identity, `/sessions/${id}`, { method: "DELETE" });

/** Lets the session's worker release it. */
const endOf = (sessionId: string) => releaseLease(writerOf(database.sql, sessionId));
const MISSING = [404, { error: "You have said nothing in such a session" }];

test("a person renames a session for themselves only, and only one in which they spoke", async () => {
  const { sessionId } = await storedRoom(database.sql);
  await say(sessionId, "erin", "What shall I cook?");
  await say(sessionId, "finn", "I do not know.");

  expect(await rename("erin", sessionId, " Dinner ")).toEqual([200, true]);
  expect(await talksOf("erin")).toMatchObject([{ title: "Dinner", firstSaid: "What shall I cook?" }]);
  expect(JSON.stringify(await talksOf("finn"))).not.toContain("Dinner");
  expect(await rename("gwen", sessionId, "Mine")).toEqual(MISSING);
  expect(await rename("erin", sessionId, "x".repeat(201))).toEqual([
    400,
    { error: "title: expected at most 200 characters" },
  ]);

  expect(await rename("erin", sessionId, "")).toEqual([200, true]);
  expect(JSON.stringify(await talksOf("erin"))).not.toContain("Dinner");
});

test("a person deletes a session once it is closed, with everything in it", async () => {
  const { sessionId } = await storedRoom(database.sql);
  const other = await storedRoom(database.sql);
  const turnId = await say(sessionId, "hans", "A secret");
  await say(other.sessionId, "hans", "Stays");
  await saveCall(writerOf(database.sql, sessionId), newCall(turnId));
  await rename("hans", sessionId, "Secrets");

  expect(await remove("ida", sessionId)).toEqual(MISSING);
  expect(await remove("hans", sessionId)).toEqual([
    409,
    { error: "The session is still open: try again 20 seconds after everybody has left the room" },
  ]);
  await endOf(sessionId);
  expect(await remove("hans", sessionId)).toEqual([200, true]);

  expect(await talksOf("hans")).toMatchObject([{ firstSaid: "Stays" }]);
  expect(await remove("hans", sessionId)).toEqual(MISSING);
  const { sql } = database;
  expect(await sql`select from turns where session_id = ${sessionId}`).toHaveLength(0);
  expect(await sql`select from tool_calls where in_session = ${sessionId}`).toHaveLength(0);
  expect(await sql`select from session_titles where session_id = ${sessionId}`).toHaveLength(0);
  expect(await sql`select participant_identity from sessions where id = ${sessionId}`).toEqual([
    { participant_identity: null },
  ]);
});

test("a session in which others have spoken is kept for them", async () => {
  const { sessionId } = await storedRoom(database.sql);
  await say(sessionId, "jane", "Hello");
  await say(sessionId, "kurt", "Hello, Jane");
  await endOf(sessionId);

  expect(await remove("jane", sessionId)).toEqual([
    409,
    { error: "Others have taken part in this session, so it is kept for them" },
  ]);
  expect(await talksOf("jane")).toMatchObject([{ firstSaid: "Hello" }]);
});

test("erasing a person removes the titles that they gave to sessions", async () => {
  const { sessionId } = await storedRoom(database.sql);
  await say(sessionId, "lena", "Hello");
  await say(sessionId, "mara", "Hello, Lena");
  await rename("lena", sessionId, "Talk with Mara");
  await rename("mara", sessionId, "Talk with Lena");
  await endOf(sessionId);

  expect(await send("lena", "/participant/lena", { method: "DELETE" })).toMatchObject([200, { turns: 1 }]);

  expect(await database.sql`select title from session_titles where session_id = ${sessionId}`).toEqual([
    { title: "Talk with Lena" },
  ]);
});
