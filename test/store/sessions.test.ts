import { afterAll, beforeAll, expect, test } from "vitest";
import { claimSession } from "../../src/store/claim-session.ts";
import { loadSession } from "../../src/store/load-session.ts";
import { releaseLease } from "../../src/store/release-lease.ts";
import { renewLease } from "../../src/store/renew-lease.ts";
import { reserveStanzas } from "../../src/store/reserve-stanzas.ts";
import { tempDatabase, type TempDatabase } from "../support/temp-database.ts";
import { sessionClaim, storedSession } from "./store-fixtures.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await tempDatabase();
});
afterAll(() => database.drop());

test("a new conversation gets a session", async () => {
  const claim = sessionClaim();

  expect(await claimSession(database.sql, claim)).toEqual({
    id: claim.sessionId,
    conversationId: claim.conversationId,
    room: "kitchen",
    participantIdentity: "ann",
    leaseOwner: "worker-1",
    workerStanzaReserved: 0,
    createdAt: expect.any(Number),
  });
});

test("a stored conversation keeps its session and who opened it, in whatever room it goes on", async () => {
  const first = sessionClaim();
  await claimSession(database.sql, first);
  const { conversationId } = first;

  const again = await claimSession(
    database.sql,
    sessionClaim({ conversationId, room: "hall", participantIdentity: "bob" }),
  );

  expect(again).toMatchObject({ id: first.sessionId, room: "hall", participantIdentity: "ann" });
});

test("a live lease keeps other owners out and changes nothing", async () => {
  const first = sessionClaim();
  await claimSession(database.sql, first);
  const { conversationId } = first;

  const other = await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2", room: "hall" }));

  expect(other).toBeUndefined();
  expect(await loadSession(database.sql, { conversationId })).toMatchObject({
    room: "kitchen",
    leaseOwner: "worker-1",
  });
});

test("an expired lease is taken over, and its old owner learns that it lost it", async () => {
  const { conversationId, sessionId } = sessionClaim();
  await claimSession(database.sql, sessionClaim({ conversationId, sessionId, leaseMs: 0 }));

  const taken = await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }));

  expect(taken).toMatchObject({ id: sessionId, leaseOwner: "worker-2" });
  expect(await renewLease(database.sql, { sessionId, owner: "worker-1", leaseMs: 30_000 })).toBe(false);
  expect(await renewLease(database.sql, { sessionId, owner: "worker-2", leaseMs: 30_000 })).toBe(true);
});

test("an expired lease that nobody took can be renewed", async () => {
  const claim = sessionClaim({ leaseMs: 0 });
  await claimSession(database.sql, claim);

  const { sessionId, conversationId } = claim;
  expect(await renewLease(database.sql, { sessionId, owner: "worker-1", leaseMs: 30_000 })).toBe(true);
  expect(await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }))).toBeUndefined();
});

test("a released lease is free at once; a stranger releases nothing", async () => {
  const { conversationId, sessionId } = sessionClaim();
  await claimSession(database.sql, sessionClaim({ conversationId, sessionId }));

  await releaseLease(database.sql, { sessionId, owner: "worker-2" });
  expect(await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }))).toBeUndefined();
  await releaseLease(database.sql, { sessionId, owner: "worker-1" });
  expect(await claimSession(database.sql, sessionClaim({ conversationId, owner: "worker-2" }))).toBeDefined();
});

test("of many workers that claim a conversation at once, one gets it", async () => {
  const { conversationId } = sessionClaim();
  const claims = Array.from({ length: 8 }, (_, index) => sessionClaim({ conversationId, owner: `worker-${index}` }));

  const sessions = await Promise.all(claims.map((claim) => claimSession(database.sql, claim)));

  expect(sessions.filter((session) => session !== undefined)).toHaveLength(1);
});

test("reserved stanza numbers are never given twice", async () => {
  const sessionId = await storedSession(database.sql);

  const first = await Promise.all(
    Array.from({ length: 5 }, () => reserveStanzas(database.sql, { sessionId, count: 100 })),
  );

  expect(first.toSorted((a, b) => a - b)).toEqual([1, 101, 201, 301, 401]);
  await expect(reserveStanzas(database.sql, { sessionId: "none", count: 1 })).rejects.toMatchObject({
    code: "conversation_not_found",
  });
});

test("an unknown conversation has no session", async () => {
  expect(await loadSession(database.sql, { conversationId: "none" })).toBeUndefined();
});
