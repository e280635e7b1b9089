import { expect, test } from "vitest";
import { claimSession } from "../../../src/store/sessions/leases.ts";
import {
  areRoomsWaiting,
  findUnserved,
  forgetAgentRequests,
  mayAskForAgent,
  mayCheckRooms,
  storeAgentRequest,
  storeWaitingRooms,
} from "../../../src/store/sessions/waiting-rooms.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);

async function claim(room: string, leaseMs: number) {
  const session = { sessionId: room, conversationId: room, room, participantIdentity: null };
  await claimSession(database.sql, { ...session, owner: `owner-of-${room}`, leaseMs });
}

test("rooms without a session or with an expired lease are unserved; others are not", async () => {
  const { sql } = database;
  await claim("served", 60_000);
  await claim("lapsed", -5_000);
  await claim("just-lapsed", -100);
  await claim("released", 60_000);
  await sql`update sessions set lease_owner = null, lease_expires_at = null where room = 'released'`;

  const unserved = await findUnserved(sql, { rooms: ["served", "lapsed", "just-lapsed", "released", "new"] });

  expect(unserved.toSorted((a, b) => (a.room < b.room ? -1 : 1))).toEqual([
    { room: "lapsed", formerOwner: "owner-of-lapsed" },
    { room: "new" },
    { room: "released" },
  ]);
});

test("unserved rooms are returned in the order of the request, so that the oldest is served first", async () => {
  const rooms = Array.from({ length: 40 }, (_, index) => `waiting-${(index * 17) % 40}`);
  for (const room of rooms.slice(10, 20)) await claim(room, -5_000);

  const unserved = await findUnserved(database.sql, { rooms });

  expect(unserved.map(({ room }) => room)).toEqual(rooms);
});

test("when several workers find a room at the same moment, one requests an agent, and again after a pause", async () => {
  const { sql } = database;
  const ask = (restMs: number) => mayAskForAgent(sql, { room: "found", restMs });

  expect((await Promise.all([ask(150), ask(150), ask(150)])).filter(Boolean)).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await ask(150)).toBe(true);
});

test("only one of many workers checks all rooms at a time; a full one only when no other has for long", async () => {
  const { sql } = database;
  const look = (overdueMs: number) => mayCheckRooms(sql, { restMs: 150, overdueMs });
  expect((await Promise.all([look(0), look(0), look(0)])).filter(Boolean)).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 200));

  expect(await look(10_000)).toBe(false);
  expect(await look(0)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await look(20)).toBe(true);
});

test("the fact that rooms are waiting is remembered for a while, and stops nobody from checking", async () => {
  await using own = await tempDatabase();
  const { sql } = own;
  expect(await areRoomsWaiting(sql)).toBe(false);

  await storeWaitingRooms(sql, { forMs: 300 });

  expect(await areRoomsWaiting(sql)).toBe(true);
  expect(await mayCheckRooms(sql, { restMs: 0, overdueMs: 0 })).toBe(true);
  expect(await areRoomsWaiting(sql)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 350));
  expect(await areRoomsWaiting(sql)).toBe(false);
});

test("nobody requests an agent for a room that its own worker takes care of, until that is forgotten", async () => {
  const { sql } = database;
  await storeAgentRequest(sql, { room: "seen-to", restMs: 60_000 });
  expect(await mayAskForAgent(sql, { room: "seen-to", restMs: 0 })).toBe(false);

  await storeAgentRequest(sql, { room: "seen-to", restMs: 0 });
  await forgetAgentRequests(sql);

  expect(await sql`select from agent_requests where room = 'seen-to'`).toHaveLength(0);
});
