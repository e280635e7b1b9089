import { ParticipantInfo, ParticipantInfo_Kind, ParticipantInfo_State } from "@livekit/protocol";
import { TwirpError } from "livekit-server-sdk";
import pino from "pino";
import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { agentIdentity } from "../../../src/protocol/conversation-id.ts";
import { claimSession } from "../../../src/store/sessions/leases.ts";
import { watchRooms } from "../../../src/worker/dispatch/watch-rooms.ts";
import type { RoomClients } from "../../../src/worker/dispatch/ensure-agent.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
/** More than a worker pauses that can look, and less than one that cannot. */
const WATCHED_MS = 3_000;
const LONG_AGO = 60_000;

const watch = (clients: object) =>
  watchRooms({
    clients: { agentName: "", ...clients } as unknown as RoomClients,
    sql: database.sql,
    isServed: () => false,
    freePlaces: () => 5,
    onRooms: async () => {},
    takeUnanswered: async () => {},
    logger: pino({ level: "silent" }),
    signal: AbortSignal.timeout(WATCHED_MS),
  });

/** A LiveKit whose rooms have these participants; it keeps the rooms for which an agent was asked. */
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

const agentOf = (jobId: string, state: ParticipantInfo_State) =>
  participant({ identity: agentIdentity(jobId), kind: ParticipantInfo_Kind.AGENT, state });

test("a worker that cannot reach LiveKit leaves the looking for rooms to others", async () => {
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

test("a room that LiveKit does not answer for holds up no other", async () => {
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

test("an agent that was killed while it joined, and that LiveKit lists for ever, is no agent of the room", async () => {
  const room = `room-${createId()}`;
  const livekit = livekitOf({ [room]: [participant({}), agentOf("job-killed", ParticipantInfo_State.JOINING)] });

  await watch(livekit);

  expect(livekit.asked).toEqual([room]);
});

test("a dead agent that LiveKit cannot remove does not keep another one away", async () => {
  const room = `room-${createId()}`;
  const request = { sessionId: createId(), conversationId: room, room, participantIdentity: null };
  await claimSession(database.sql, { ...request, owner: "job-dead", leaseMs: -LONG_AGO });
  const livekit = livekitOf({ [room]: [participant({}), agentOf("job-dead", ParticipantInfo_State.ACTIVE)] });

  await watch(livekit);

  expect(livekit.asked).toEqual([room]);
});
