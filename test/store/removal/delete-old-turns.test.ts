import { expect, test } from "vitest";
import { deleteOldTurns } from "../../../src/store/removal/delete-old-turns.ts";
import { saveCall } from "../../../src/store/calls.ts";
import { insertMedia, loadMedia } from "../../../src/store/media.ts";
import { releaseLease } from "../../../src/store/sessions/leases.ts";
import { beginRoom, endRoom } from "../../../src/store/sessions/session-rooms.ts";
import { storeStateChange } from "../../../src/store/sessions/session-state.ts";
import { setTitle } from "../../../src/store/sessions/session-titles.ts";
import type { SessionWriter } from "../../../src/store/sessions/session-writer.ts";
import { insertSummary, loadSummary } from "../../../src/store/turns/summaries.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { finishTurn, insertTurn } from "../../../src/store/turns/write-turns.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { PNG } from "../../support/pictures.ts";
import { newCall, newTurn, storedSession, textBlock } from "../store-fixtures.ts";

const database = forEachTest(tempDatabase);

/** Stores turns that are this many days old, each with a block and a call. */
async function tell(writer: SessionWriter, ...ages: readonly number[]): Promise<void> {
  for (const age of ages) {
    const turn = newTurn();
    await insertTurn(writer, turn);
    await saveCall(writer, newCall(turn.id, { state: "success" }));
    await insertBlocks(writer, [{ turnId: turn.id, block: textBlock(0) }]);
    await finishTurn(writer, { turnId: turn.id, state: "completed" });
    await database.sql`update turns set created_at = now() - ${age} * interval '1 day' where id = ${turn.id}`;
  }
}

const positions = async () =>
  (await database.sql<{ position: number }[]>`select position from turns order by position`).map((row) => row.position);

test("older turns are deleted with everything in them, in batches, oldest first", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await tell(writer, 40, 39, 38, 2, 1);

  expect(await deleteOldTurns(sql, { days: 30, limit: 2 })).toBe(2);
  expect(await positions()).toEqual([3, 4, 5]);
  expect(await deleteOldTurns(sql, { days: 30, limit: 2 })).toBe(1);
  expect(await deleteOldTurns(sql, { days: 30, limit: 2 })).toBe(0);
  expect(await positions()).toEqual([4, 5]);
  const [left] = await sql`
    select (select count(*)::int from turn_blocks) as blocks, (select count(*)::int from tool_calls) as calls
  `;
  expect(left).toEqual({ blocks: 2, calls: 2 });
});

test("a participant's title for a session is deleted with their last turn in it", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  const { sessionId } = writer.lease;
  const turns = ["ann", "ben"].map((participantIdentity) => newTurn({ participantIdentity }));
  for (const turn of turns) {
    await insertTurn(writer, turn);
    await finishTurn(writer, { turnId: turn.id, state: "completed" });
    await setTitle(sql, { sessionId, identity: turn.participantIdentity, title: "Dinner" });
  }
  await sql`update turns set created_at = now() - interval '40 days' where id = ${turns[0]?.id ?? ""}`;

  await deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await sql`select participant_identity from session_titles where session_id = ${sessionId}`).toEqual([
    { participant_identity: "ben" },
  ]);
});

test("a session's state is deleted with its last turn, unless a worker serves the session", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  const turn = newTurn();
  await insertTurn(writer, turn);
  const own = { state: { order: ["tea"] }, fields: { order: { after: ["tea"] } } };
  await saveCall(writer, newCall(turn.id, { state: "success" }), { change: { ...own, version: 1, turnId: turn.id } });
  await storeStateChange(writer, { ...own, version: 2, turnId: null });
  await finishTurn(writer, { turnId: turn.id, state: "completed" });
  const makeOld = sql`now() - interval '40 days'`;
  await sql`update turns set created_at = ${makeOld}`;
  await sql`update state_changes set created_at = ${makeOld}`;
  await sql`update sessions set created_at = ${makeOld}`;

  await deleteOldTurns(sql, { days: 30, limit: 10 });
  expect(await sql`select from session_states`).toHaveLength(1);
  await sql`update sessions set lease_owner = null, lease_expires_at = null`;
  await deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await sql`select from session_states`).toHaveLength(0);
  expect(await sql`select from state_changes`).toHaveLength(0);
});

test("an active session keeps its newest turn, and turns that run or have an open call, until it is no longer active", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await tell(writer, 40, 39, 38);
  await sql`update turns set state = 'running' where position = 1`;
  await sql`update tool_calls set state = 'pending' where turn_id = (select id from turns where position = 2)`;
  const again = () => deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await again()).toBe(0);
  await sql`update tool_calls set state = 'success'`;
  expect(await again()).toBe(1);
  expect(await positions()).toEqual([1, 3]);
  await releaseLease(writer);
  expect(await again()).toBe(2);
});

test("what a worker left when it died is deleted an hour after its lease", async () => {
  const { sql } = database;
  await tell(await storedSession(sql), 40);
  await sql`update turns set state = 'running'`;
  await sql`update sessions set lease_expires_at = now() - interval '59 minutes'`;

  expect(await deleteOldTurns(sql, { days: 30, limit: 10 })).toBe(0);
  await sql`update sessions set lease_expires_at = now() - interval '61 minutes'`;
  expect(await deleteOldTurns(sql, { days: 30, limit: 10 })).toBe(1);
});

test("records of sessions that ended long enough ago are deleted, too, delivered or not", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  for (const roomSid of ["RM_old", "RM_new", "RM_open"]) {
    await beginRoom(writer, { roomSid, agent: "default", afterPosition: 0, hasEndWebhook: true });
    if (roomSid !== "RM_open") await endRoom(writer, { roomSid, reason: "participants_left", hasEndWebhook: true });
  }
  await sql`update session_rooms set started_at = now() - interval '40 days'`;
  await sql`update session_rooms set ended_at = now() - interval '40 days' where room_sid = 'RM_old'`;

  await deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await sql`select room_sid from session_rooms order by 1`).toEqual([
    { room_sid: "RM_new" },
    { room_sid: "RM_open" },
  ]);
  expect(await sql`select id from webhooks`).toEqual([{ id: "ended_RM_new" }]);
});

test("a model's notes are deleted with the first turn that they cover, and other parts of the summary stay", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await tell(writer, 40, 2, 1);
  const [last] = await sql<{ id: string }[]>`select id from turns where position = 3`;
  const people = [{ identity: "ann", language: "de" }];
  const notes = {
    text: "They talked.",
    from: 1,
    to: 3,
    textTo: 3,
    model: "small",
    usage: { inputTokens: 1 },
    promises: [],
  };
  for (const textFrom of [1, 2])
    await insertSummary(writer, { ...notes, id: `from ${textFrom}`, textFrom, people, toTurn: last?.id ?? "" });

  await deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await loadSummary(sql, { id: "from 1" })).toMatchObject({
    text: null,
    textTo: 0,
    model: null,
    usage: null,
    people,
  });
  expect(await loadSummary(sql, { id: "from 2" })).toMatchObject({ text: "They talked.", textTo: 3 });
});

test("summaries that the API wrote before retention was set are deleted with the first turns", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await tell(writer, 40, 1);
  const [last] = await sql<{ id: string }[]>`select id from turns where position = 2`;
  const content = { type: "compaction", content: "They talked." };
  const block = { ...textBlock(1), blockType: "compaction", textContent: null, content };
  await insertBlocks(writer, [{ turnId: last?.id ?? "", block }]);

  await deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await sql`select block_type from turn_blocks`).toEqual([{ block_type: "text" }]);
});

test("pictures are deleted with the call that made them, and those in messages when they are as old", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await tell(writer, 40, 1);
  const calls = await sql<
    { id: string }[]
  >`select tool_calls.id from tool_calls join turns on turns.id = turn_id order by position`;
  const given = (id: string) => [{ id, mediaType: "image/png", bytes: PNG }];
  for (const [index, { id }] of calls.entries())
    await insertMedia(writer, { callId: id, from: null, media: given(`call ${index}`) });
  for (const id of ["old", "new"]) await insertMedia(writer, { callId: null, from: "ann", media: given(id) });
  await sql`update media set created_at = now() - interval '40 days' where id = 'old'`;

  await deleteOldTurns(sql, { days: 30, limit: 10 });

  expect(await sql`select id from media order by id`).toEqual([{ id: "call 1" }, { id: "new" }]);
  const [stored] = await loadMedia(writer, { ids: ["call 0", "new"] });
  expect(Buffer.from(stored?.bytes ?? [])).toEqual(Buffer.from(PNG));
});
