import { expect, test } from "vitest";
import { claimSession, releaseLease, releaseOwner } from "../../../src/store/sessions/leases.ts";
import { loadEndedRoom } from "../../../src/store/sessions/ended-rooms.ts";
import {
  beginRoom,
  endAbandonedRoom,
  endRoom,
  findAbandonedRooms,
  needsAgent,
} from "../../../src/store/sessions/session-rooms.ts";
import type { SessionWriter } from "../../../src/store/sessions/session-writer.ts";
import { finishTurn, insertTurn } from "../../../src/store/turns/write-turns.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newTurn, sessionClaim, storedSession, writerOf } from "../store-fixtures.ts";

const database = forEachTest(tempDatabase);

const begin = (writer: SessionWriter, roomSid: string, afterPosition = 0) =>
  beginRoom(writer, { roomSid, agent: "default", afterPosition, hasEndWebhook: true });
const end = (writer: SessionWriter, roomSid: string) =>
  endRoom(writer, { roomSid, reason: "participants_left", hasEndWebhook: true });

async function tell(writer: SessionWriter, identity: string, inputTokens: number): Promise<void> {
  const turn = newTurn({ participantIdentity: identity });
  await insertTurn(writer, turn);
  const usage = { inputTokens, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  await finishTurn(writer, { turnId: turn.id, state: "completed", model: "claude-test", usage });
}

const webhooks = async () =>
  (await database.sql<{ id: string }[]>`select id from webhooks order by id`).map(({ id }) => id);

/** Changes the stored times, as if the room's worker had started and released the room a while ago. */
async function backdateRoom(): Promise<void> {
  await database.sql`update session_rooms set started_at = now() - interval '1 minute'`;
  await database.sql`update sessions set updated_at = now() - interval '1 minute'`;
}

test("a session starts once in a room and ends once, whichever workers start and end it, with one webhook", async () => {
  const { sql } = database;
  const claim = sessionClaim();
  await claimSession(sql, claim);
  const [first, second] = [writerOf(sql, claim.sessionId, 1), writerOf(sql, claim.sessionId, 2)];

  expect(await begin(first, "RM_1")).toEqual({ isNew: true, ended: [] });
  await releaseLease(first);
  await claimSession(sql, { ...claim, owner: "worker-2" });
  expect(await begin(second, "RM_1")).toEqual({ isNew: false, ended: [] });
  await expect(end(first, "RM_1")).rejects.toMatchObject({ code: "lost_lease" });
  expect(await webhooks()).toEqual([]);
  expect([await end(second, "RM_1"), await end(second, "RM_1")]).toEqual([true, false]);

  expect(await webhooks()).toEqual(["ended_RM_1"]);
});

test("a room in which the session has not started does not end, and without a receiver no webhook is stored", async () => {
  const writer = await storedSession(database.sql);

  expect(await end(writer, "RM_1")).toBe(false);
  await beginRoom(writer, { roomSid: "RM_2", agent: "default", afterPosition: 0, hasEndWebhook: false });
  expect(await endRoom(writer, { roomSid: "RM_2", reason: "room_deleted", hasEndWebhook: false })).toBe(true);

  expect(await webhooks()).toEqual([]);
});

test("a room's webhook covers only that room: turns, participants and tokens of another room with that name are not in it", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  const { sessionId } = writer.lease;
  await begin(writer, "RM_1");
  await tell(writer, "ann", 10);
  await end(writer, "RM_1");
  await begin(writer, "RM_2", 1);
  await tell(writer, "bob", 20);
  await tell(writer, "ann", 30);
  await end(writer, "RM_2");

  const [first, second] = await Promise.all(
    ["RM_1", "RM_2"].map((roomSid) => loadEndedRoom(sql, { sessionId, roomSid })),
  );

  const usage = { model: "claude-test", cacheReadTokens: 0, cacheWriteTokens: 0 };
  expect(first).toMatchObject({
    room: "kitchen",
    agent: "default",
    reason: "participants_left",
    participants: ["ann"],
    afterPosition: 0,
    lastPosition: 1,
    usage: [{ ...usage, inputTokens: 10, outputTokens: 1 }],
  });
  expect(second).toMatchObject({
    participants: ["ann", "bob"],
    afterPosition: 1,
    lastPosition: 3,
    usage: [{ ...usage, inputTokens: 50, outputTokens: 2 }],
  });
});

test("a later room with the same name ends the earlier one, whose end nobody has seen", async () => {
  const writer = await storedSession(database.sql);
  const { sessionId } = writer.lease;
  await begin(writer, "RM_1");
  await tell(writer, "ann", 10);

  expect(await begin(writer, "RM_2", 1)).toEqual({ isNew: true, ended: [{ sessionId, roomSid: "RM_1" }] });

  expect(await webhooks()).toEqual(["ended_RM_1"]);
  expect(await loadEndedRoom(database.sql, { sessionId, roomSid: "RM_1" })).toMatchObject({
    reason: "unknown",
    lastPosition: 1,
  });
});

test("a room is abandoned when no worker owns its session: the lease was released, or has expired", async () => {
  const { sql } = database;
  const [released, lapsed, served] = await Promise.all([storedSession(sql), storedSession(sql), storedSession(sql)]);
  await Promise.all([begin(released, "RM_released"), begin(lapsed, "RM_lapsed"), begin(served, "RM_served")]);
  await releaseLease(released);
  const { sessionId } = lapsed.lease;
  await sql`update sessions set lease_expires_at = now() - interval '2 seconds' where id = ${sessionId}`;
  const [{ owner } = {}] = await sql<
    { owner: string }[]
  >`select lease_owner as owner from sessions where id = ${sessionId}`;

  expect(await findAbandonedRooms(sql)).toEqual([]);
  await backdateRoom();
  const found = await findAbandonedRooms(sql);

  expect(found.toSorted((one, other) => (one.roomSid < other.roomSid ? -1 : 1))).toEqual([
    { sessionId, roomSid: "RM_lapsed", room: "kitchen", formerOwner: owner, needsAgent: true },
    { sessionId: released.lease.sessionId, roomSid: "RM_released", room: "kitchen", needsAgent: true },
  ]);
});

test("only one worker ends an abandoned room, and a room that a worker serves does not end", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  const { sessionId } = writer.lease;
  await begin(writer, "RM_1");
  await backdateRoom();
  const endIt = () => endAbandonedRoom(sql, { sessionId, roomSid: "RM_1", hasEndWebhook: true });
  expect(await endIt()).toBe(false);

  await releaseLease(writer);
  await backdateRoom();
  const ended = await Promise.all([endIt(), endIt(), endIt()]);

  expect(ended.filter(Boolean)).toHaveLength(1);
  expect(await webhooks()).toEqual(["ended_RM_1"]);
  expect(await findAbandonedRooms(sql)).toEqual([]);
});

test("an abandoned room is owed one agent, and another one only after somebody was in the room with it", async () => {
  const { sql } = database;
  const claim = sessionClaim();
  const isOwed = async () => [await needsAgent(sql, claim), (await findAbandonedRooms(sql))[0]?.needsAgent];
  await claimSession(sql, claim);
  await begin(writerOf(sql, claim.sessionId, 1), "RM_1");
  expect(await releaseOwner(sql, claim)).toBe(true);
  await backdateRoom();
  expect(await isOwed()).toEqual([true, true]);

  await claimSession(sql, { ...claim, owner: "worker-2" });
  expect(await releaseOwner(sql, { owner: "worker-2" })).toBe(true);
  await backdateRoom();
  expect(await isOwed()).toEqual([false, false]);

  await claimSession(sql, { ...claim, owner: "worker-3" });
  await begin(writerOf(sql, claim.sessionId, 3), "RM_1");
  await releaseLease(writerOf(sql, claim.sessionId, 3));
  expect(await releaseOwner(sql, { owner: "worker-3" })).toBe(false);
  await backdateRoom();
  expect(await isOwed()).toEqual([true, true]);
});
