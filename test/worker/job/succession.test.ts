import { Room } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { pino } from "pino";
import { expect, inject, onTestFinished, test } from "vitest";
import { AppError } from "../../../src/errors/app-error.ts";
import { createId } from "../../../src/lib/id.ts";
import { AGENT_STATE_ATTRIBUTE, GONE_ATTRIBUTES, JOINING_ATTRIBUTES } from "../../../src/protocol/attributes.ts";
import { createFormerAgents } from "../../../src/worker/job/room-api.ts";
import { Succession } from "../../../src/worker/job/succession.ts";
import { LiveKitClients } from "../../support/clients/livekit-clients.ts";
import { createToken, Participant } from "../../support/participant.ts";

const LISTENING = { "lk.agent.state": "listening", "parley.agent.state": "listening" };
const NO_TRACKS = { autoSubscribe: false, dynacast: false };
const server = () => ({
  url: inject("livekitUrl"),
  apiKey: inject("livekitApiKey"),
  apiSecret: inject("livekitApiSecret"),
});
const owned = () => Promise.resolve();
const logger = pino({ level: "silent" });

/** A room with a participant, where LiveKit's simulated clients follow the agents. */
async function openRoom() {
  const name = `room-${createId()}`;
  const user = await Participant.join(name, "user");
  onTestFinished(() => user[Symbol.asyncDispose]());
  const rooms = new RoomServiceClient(server().url.replace(/^ws/u, "http"), server().apiKey, server().apiSecret);
  /** Makes an agent join the room, as its only agent or as a successor. */
  const join = async (identity: string, attributes: Record<string, string> = { ...JOINING_ATTRIBUTES }) => {
    const room = new Room();
    const grant = { kind: "agent", canUpdateOwnMetadata: true, attributes } as const;
    await room.connect(server().url, await createToken(name, identity, grant), NO_TRACKS);
    onTestFinished(() => room.disconnect());
    await expect.poll(() => user.room.remoteParticipants.has(identity), { timeout: 5_000 }).toBe(true);
    return room;
  };
  const succeed = (room: Room, onShow = () => {}) => {
    const showState = () => {
      onShow();
      // The test, and thus the room, may end before LiveKit has answered.
      void room.localParticipant?.setAttributes(LISTENING).catch(() => {});
    };
    return new Succession({ room, ...createFormerAgents({ name, room, ...server() }), showState, logger });
  };
  const attributesOf = (identity: string) => user.room.remoteParticipants.get(identity)?.attributes;
  return { name, user, rooms, join, succeed, attributesOf };
}

test("a successor replaces the previous agent, which leaves only then: no client notices", async () => {
  const { user, join, succeed } = await openRoom();
  await join("agent-old", LISTENING);
  const clients = LiveKitClients.watch(user.room);

  const succession = succeed(await join("agent-new"));
  await succession.begin(owned);

  await expect.poll(() => [...user.room.remoteParticipants.keys()], { timeout: 5_000 }).toEqual(["agent-new"]);
  expect(clients.ends).toEqual([]);
  expect(clients.areConnected).toBe(true);
});

test("of two successors the one without the session replaces nobody, and leaves unnoticed", async () => {
  const { user, join, succeed } = await openRoom();
  await join("agent-old", LISTENING);
  const clients = LiveKitClients.watch(user.room);
  succeed(await join("agent-1"));
  const winner = succeed(await join("agent-2"));

  await winner.begin(owned);

  await expect.poll(() => [...user.room.remoteParticipants.keys()], { timeout: 5_000 }).toEqual(["agent-2"]);
  expect(clients.ends).toEqual([]);
  expect(clients.areConnected).toBe(true);
});

test("an agent that has lost the session replaces nobody", async () => {
  const { join, succeed, attributesOf } = await openRoom();
  await join("agent-old", LISTENING);
  const succession = succeed(await join("agent-new"));

  await succession.begin(() => Promise.reject(new AppError("lost_lease", "Another worker owns the session")));

  expect(attributesOf("agent-old")).toEqual(LISTENING);
});

test("an agent that serves the room replaces agents that have left since, and no others", async () => {
  const { user, rooms, name, join, succeed, attributesOf } = await openRoom();
  await succeed(await join("agent-new")).begin(owned);
  await join("agent-waits");
  await join("agent-of-others", { "lk.agent.state": "listening" });
  await join("agent-gone");

  await rooms.updateParticipant(name, "agent-gone", { attributes: GONE_ATTRIBUTES });

  const present = () => [...user.room.remoteParticipants.keys()].toSorted();
  await expect.poll(present, { timeout: 6_000 }).toEqual(["agent-new", "agent-of-others", "agent-waits"]);
  expect(attributesOf("agent-waits")).toEqual(JOINING_ATTRIBUTES);
});

test("an agent that was considered dead while it owns the session shows its state again", async () => {
  const { user, rooms, name, join, succeed, attributesOf } = await openRoom();
  const states: (string | undefined)[] = [];
  await succeed(await join("agent-new")).begin(owned);
  await expect.poll(() => attributesOf("agent-new"), { timeout: 5_000 }).toEqual(LISTENING);
  user.room.on("participantAttributesChanged", (changed) => states.push(changed[AGENT_STATE_ATTRIBUTE]));

  await rooms.updateParticipant(name, "agent-new", { attributes: GONE_ATTRIBUTES });

  await expect.poll(() => states, { timeout: 5_000 }).toEqual(["gone", "listening"]);
});

test("it shows its state once more, as LiveKit may deliver the mark to a client after the first", async () => {
  const { rooms, name, join, succeed, attributesOf } = await openRoom();
  let shown = 0;
  await succeed(await join("agent-new"), () => shown++).begin(owned);
  await expect.poll(() => attributesOf("agent-new"), { timeout: 5_000 }).toEqual(LISTENING);
  await rooms.updateParticipant(name, "agent-new", { attributes: GONE_ATTRIBUTES });

  // Once at the start and twice after the mark.
  await expect.poll(() => shown, { timeout: 5_000 }).toBe(3);
  expect(attributesOf("agent-new")).toEqual(LISTENING);
});
