import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { startNewSession } from "../../../src/store/sessions/start-new-session.ts";
import { beginRoom } from "../../../src/store/sessions/session-rooms.ts";
import { claimSession, releaseLease, renewLease } from "../../../src/store/sessions/leases.ts";
import { loadSession } from "../../../src/store/sessions/sessions.ts";
import { reserveStanzas } from "../../../src/store/sessions/stanzas.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { sessionClaim, storedSession, writerOf } from "../store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";

const LONG = { leaseMs: 30_000 };

const database = forFile(tempDatabase);

test("a new conversation gets a session", async () => {
  const claim = sessionClaim();

  expect(await claimSession(database.sql, claim)).toEqual({
    id: claim.sessionId,
    conversationId: claim.conversationId,
    room: "kitchen",
    participantIdentity: "ann",
    leaseOwner: "worker-1",
    epoch: 1,
    workerStanzaReserved: 0,
    createdAt: expect.any(Number),
    takenFrom: null,
    isOfEarlierRoom: false,
  });
});

test("a stored conversation keeps its session and its first participant", async () => {
  const first = sessionClaim();
  await claimSession(database.sql, first);
  const { conversationId } = first;

  const again = await claimSession(database.sql, sessionClaim({ conversationId, participantIdentity: "bob" }));

  expect(again).toMatchObject({ id: first.sessionId, participantIdentity: "ann", epoch: 2 });
});

test("another room does not get the conversation, though its lease is free", async () => {
  const { conversationId, sessionId } = sessionClaim();
  await claimSession(database.sql, sessionClaim({ conversationId, sessionId, room: "conv_ac_s77" }));
  await releaseLease(writerOf(database.sql, sessionId));

  const other = claimSession(database.sql, sessionClaim({ conversationId, room: "ac_s77" }));

  await expect(other).rejects.toMatchObject({ code: "not_allowed" });
  const session = await loadSession(database.sql, { conversationId });
  expect(session).toMatchObject({ room: "conv_ac_s77", leaseOwner: null, epoch: 1 });
});

test("a live lease keeps other owners out and changes nothing", async () => {
  const first = sessionClaim();
  await claimSession(database.sql, first);
  const { conversationId } = first;

  const other = await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }));

  expect(other).toBeUndefined();
  expect(await loadSession(database.sql, { conversationId })).toMatchObject({
    room: "kitchen",
    leaseOwner: "worker-1",
  });
});

test("an expired lease is taken over, and its old owner learns that the lease is lost", async () => {
  const { conversationId, sessionId } = sessionClaim();
  await claimSession(database.sql, sessionClaim({ conversationId, sessionId, leaseMs: 0 }));

  const taken = await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }));

  expect(taken).toMatchObject({ id: sessionId, leaseOwner: "worker-2", epoch: 2, takenFrom: "worker-1" });
  expect(await renewLease(writerOf(database.sql, sessionId), LONG)).toBe(false);
  expect(await renewLease(writerOf(database.sql, sessionId, 2), LONG)).toBe(true);
});

test("an expired lease that nobody has taken can be renewed", async () => {
  const claim = sessionClaim({ leaseMs: 0 });
  await claimSession(database.sql, claim);

  const { sessionId, conversationId } = claim;
  expect(await renewLease(writerOf(database.sql, sessionId), LONG)).toBe(true);
  expect(await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }))).toBeUndefined();
});

test("a released lease is free immediately, and cannot be renewed; a stranger releases nothing", async () => {
  const { conversationId, sessionId } = sessionClaim();
  await claimSession(database.sql, sessionClaim({ conversationId, sessionId }));

  await releaseLease(writerOf(database.sql, sessionId, 2));
  expect(await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }))).toBeUndefined();
  await releaseLease(writerOf(database.sql, sessionId));
  expect(await renewLease(writerOf(database.sql, sessionId), LONG)).toBe(false);
  expect(await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }))).toBeDefined();
});

test("of many workers that claim a conversation at once, one gets it", async () => {
  const { conversationId } = sessionClaim();
  const claims = Array.from({ length: 8 }, (_, index) => sessionClaim({ conversationId, owner: `worker-${index}` }));

  const sessions = await Promise.all(claims.map((claim) => claimSession(database.sql, claim)));

  expect(sessions.filter((session) => session !== undefined)).toHaveLength(1);
});

test("reserved stanza numbers are never assigned twice", async () => {
  const writer = await storedSession(database.sql);

  const first = await Promise.all(Array.from({ length: 5 }, () => reserveStanzas(writer, { count: 100 })));

  expect(first.toSorted((a, b) => a - b)).toEqual([1, 101, 201, 301, 401]);
  const stranger = writerOf(database.sql, writer.lease.sessionId, 2);
  await expect(reserveStanzas(stranger, { count: 1 })).rejects.toMatchObject({ code: "lost_lease" });
});

test("an unknown conversation has no session", async () => {
  expect(await loadSession(database.sql, { conversationId: "none" })).toBeUndefined();
});

test("a claim that does not continue finds the session of an earlier room with the name, and uses its id for a new one", async () => {
  const claim = sessionClaim({ roomSid: "RM_1", continues: false });
  await claimSession(database.sql, claim);
  const { conversationId, sessionId } = claim;
  await reserveStanzas(writerOf(database.sql, sessionId), { count: 100 });
  const later = { conversationId, roomSid: "RM_2", continues: false };

  const earlier = await claimSession(database.sql, sessionClaim(later));
  const anew = { sessionId: createId(), roomSid: "RM_2", owner: "worker-1", leaseMs: 30_000, hasEndWebhook: false };
  const begun = await startNewSession(writerOf(database.sql, sessionId, 2), anew);

  expect(earlier).toMatchObject({ id: sessionId, isOfEarlierRoom: true });
  // The new session does not use the numbers of the earlier one again, because a client that was in both rooms has
  // already seen them.
  expect(begun?.session).toMatchObject({ id: anew.sessionId, conversationId, epoch: 1, workerStanzaReserved: 100 });
  expect(await loadSession(database.sql, { conversationId })).toMatchObject({ id: anew.sessionId });
  expect(await claimSession(database.sql, sessionClaim(later))).toMatchObject({
    id: anew.sessionId,
    isOfEarlierRoom: false,
  });
});

test("of two workers that claim a session again, the one that was overtaken starts nothing", async () => {
  const claim = sessionClaim({ roomSid: "RM_1" });
  await claimSession(database.sql, claim);
  const { sessionId, conversationId } = claim;
  await claimSession(database.sql, sessionClaim({ conversationId, roomSid: "RM_2", continues: false }));

  const anew = { sessionId: createId(), roomSid: "RM_2", owner: "worker-1", leaseMs: 30_000, hasEndWebhook: false };
  expect(await startNewSession(writerOf(database.sql, sessionId, 1), anew)).toBeUndefined();

  expect(await loadSession(database.sql, { conversationId })).toMatchObject({ id: sessionId, epoch: 2 });
});

test("a room whose session started before its id was stored continues with it", async () => {
  const claim = sessionClaim();
  await claimSession(database.sql, claim);
  const { sessionId, conversationId } = claim;
  await beginRoom(writerOf(database.sql, sessionId), {
    roomSid: "RM_1",
    agent: "default",
    afterPosition: 0,
    hasEndWebhook: false,
  });
  const claimIn = (roomSid: string) =>
    claimSession(database.sql, sessionClaim({ conversationId, roomSid, continues: false }));

  expect(await claimIn("RM_1")).toMatchObject({ id: sessionId, isOfEarlierRoom: false });
  expect(await claimIn("RM_2")).toMatchObject({ id: sessionId, isOfEarlierRoom: true });
});
