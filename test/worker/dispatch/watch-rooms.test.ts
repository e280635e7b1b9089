import { ParticipantInfo, ParticipantInfo_Kind, ParticipantInfo_State } from "@livekit/protocol";
import { TwirpError } from "livekit-server-sdk";
import pino from "pino";
import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { agentIdentity } from "../../../src/protocol/conversation-id.ts";
import { claimSession } from "../../../src/store/sessions/leases.ts";
import { beginRoom } from "../../../src/store/sessions/session-rooms.ts";
import { watchRooms } from "../../../src/worker/dispatch/watch-rooms.ts";
import type { RoomClients } from "../../../src/worker/dispatch/ensure-agent.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forEachTest(tempDatabase);
/**
 * How long a worker watches the rooms: longer than the pause between its checks, and shorter than the pause after a
 * failed check.
 */
const WATCHED_MS = 3_000;
const LONG_AGO = 60_000;

const watch = (clients: object, closed: string[] = []) =>
  watchRooms({
    clients: { agentName: "", ...clients } as unknown as RoomClients,
    sql: database.sql,
    isServed: () => false,
    freeSlots: () => 5,
    onClosed: async ({ roomSid }) => void closed.push(roomSid),
    serveUnclaimedDispatch: async () => {},
    logger: pino({ level: "silent" }),
    signal: AbortSignal.timeout(WATCHED_MS),
  });

/** A LiveKit whose rooms contain these participants. It records the rooms for which an agent was requested. */
function livekitOf(rooms: Readonly<Record<string, readonly ParticipantInfo[]>>) {
  const asked: string[] = [];
  const listed = Object.entries(rooms).map(([name, participants], index) => ({
    name,
    sid: name,
    numParticipants: participants.length,
    creationTime: BigInt(index),
  }));
  const unavailable = async () => {
    throw new TwirpError("Service Unavailable", "no response from servers", 503, "unavailable");
  };
  return {
    asked,
    rooms: {
      listRooms: async () => listed,
      listParticipants: async (room: string) => rooms[room] ?? [],
      removeParticipant: unavailable,
      updateParticipant: unavailable,
    },
    dispatches: {
      listDispatch: async () => [],
      createDispatch: async (room: string) => void asked.push(room),
    },
  };
}

function participant(info: Partial<ParticipantInfo>): ParticipantInfo {
  const joinedAtMs = BigInt(Date.now() - LONG_AGO);
  return new ParticipantInfo({ identity: "ann", state: ParticipantInfo_State.ACTIVE, joinedAtMs, ...info });
}

/** Stores a session that has started in the room, and whose worker has died. */
async function loseSession(room: string): Promise<void> {
  const { sql } = database;
  await claimFor(room, "job-lost");
  const writer = { sql, lease: { sessionId: room, epoch: 1 } };
  await beginRoom(writer, { roomSid: room, agent: "default", afterPosition: 0, hasEndWebhook: false });
  await sql`update session_rooms set started_at = now() - interval '1 minute'`;
}

/** Claims the room's session with a lease that has already expired, as if the owner had died since. */
async function claimFor(room: string, owner: string): Promise<void> {
  const session = { sessionId: room, conversationId: room, room, participantIdentity: null };
  await claimSession(database.sql, { ...session, owner, leaseMs: -LONG_AGO });
}

const agentOf = (jobId: string, state: ParticipantInfo_State) =>
  participant({ identity: agentIdentity(jobId), kind: ParticipantInfo_Kind.AGENT, state });

test("a worker that cannot reach LiveKit leaves checking the rooms to others", async () => {
  let looks = 0;
  const rooms = {
    listRooms: async () => {
      looks += 1;
      throw new Error("connect ECONNREFUSED");
    },
  };

  await watch({ rooms });

  expect(looks).toBe(1);
});

test("a room for which LiveKit does not answer delays no other", async () => {
  const [stuck, waiting] = [`room-${createId()}`, `room-${createId()}`];
  const livekit = livekitOf({ [stuck]: [participant({})], [waiting]: [participant({})] });
  const { listParticipants, removeParticipant } = livekit.rooms;
  const rooms = {
    ...livekit.rooms,
    listParticipants: (room: string) => (room === stuck ? removeParticipant() : listParticipants(room)),
  };

  await watch({ ...livekit, rooms });

  expect(livekit.asked).toEqual([waiting]);
});

test("an agent that was killed while it joined, and that LiveKit lists forever, does not count as the room's agent", async () => {
  const room = `room-${createId()}`;
  const livekit = livekitOf({ [room]: [participant({}), agentOf("job-killed", ParticipantInfo_State.JOINING)] });

  await watch(livekit);

  expect(livekit.asked).toEqual([room]);
});

test("a dead agent that LiveKit cannot reach does not prevent another one", async () => {
  const room = `room-${createId()}`;
  await claimFor(room, "job-dead");
  const livekit = livekitOf({ [room]: [participant({}), agentOf("job-dead", ParticipantInfo_State.ACTIVE)] });

  await watch(livekit);

  expect(livekit.asked).toEqual([room]);
});

test("a session that lost its worker gets an agent even if LiveKit lists nobody in its room, or not even the room", async () => {
  const [empty, unlisted] = [`room-${createId()}`, `room-${createId()}`];
  const livekit = livekitOf({ [empty]: [] });
  for (const room of [empty, unlisted]) await loseSession(room);
  const closed: string[] = [];

  await watch(livekit, closed);

  expect(livekit.asked.toSorted()).toEqual([empty, unlisted].toSorted());
  expect(closed).toEqual([]);
});

test("a room that an agent joined, but no participant, gets no second agent", async () => {
  const [empty, unlisted] = [`room-${createId()}`, `room-${createId()}`];
  const livekit = livekitOf({ [empty]: [] });
  for (const room of [empty, unlisted]) {
    await loseSession(room);
    await claimFor(room, "job-alone");
  }
  const closed: string[] = [];

  await watch(livekit, closed);

  expect(livekit.asked).toEqual([]);
  expect(closed).toEqual([]);
});

test("a session ends when LiveKit reports its room as closed, or lists a later room with that name", async () => {
  const [gone, replaced] = [`room-${createId()}`, `room-${createId()}`];
  const livekit = livekitOf({ [replaced]: [] });
  const [later] = await livekit.rooms.listRooms();
  const rooms = { ...livekit.rooms, listRooms: async () => [{ ...later, sid: "later" }] };
  const dispatches = { ...livekit.dispatches, listDispatch: livekit.rooms.removeParticipant };
  for (const room of [gone, replaced]) await loseSession(room);
  const closed: string[] = [];

  await watch({ rooms, dispatches }, closed);

  expect(new Set(closed)).toEqual(new Set([gone, replaced]));
  expect(livekit.asked).toEqual([]);
});
