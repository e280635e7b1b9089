import { expect, inject, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { AGENT_STATE_ATTRIBUTE, GONE_ATTRIBUTES, ON_BEHALF_ATTRIBUTE } from "../../../src/protocol/attributes.ts";
import {
  createRoomClients,
  ensureAgent,
  isMeantForUs,
  requestAgent,
} from "../../../src/worker/dispatch/ensure-agent.ts";
import { Participant } from "../../support/participant.ts";

const livekit = () => ({
  url: inject("livekitUrl"),
  apiKey: inject("livekitApiKey"),
  apiSecret: inject("livekitApiSecret"),
});

test("the agent requested as a replacement gets the metadata of the previous dispatch", async () => {
  const clients = createRoomClients(livekit());
  const room = `room-${createId()}`;
  await clients.rooms.createRoom({ name: room });
  await clients.dispatches.createDispatch(room, "", { metadata: '{"agent": "billing"}' });
  await clients.dispatches.createDispatch(room, "");

  await requestAgent(clients, room);

  const metadatas = (await clients.dispatches.listDispatch(room)).map(({ metadata }) => metadata);
  expect(metadatas.filter((metadata) => metadata === '{"agent": "billing"}')).toHaveLength(2);
});

test("a worker with an agent name is for the rooms that were dispatched to it, and one without for all rooms", async () => {
  const [dispatched, other] = [`room-${createId()}`, `room-${createId()}`];
  const clients = createRoomClients(livekit(), "billing");
  for (const name of [dispatched, other]) await clients.rooms.createRoom({ name });
  await clients.dispatches.createDispatch(dispatched, "billing");
  await clients.dispatches.createDispatch(other, "sales");

  expect(await isMeantForUs(clients, dispatched)).toBe(true);
  expect(await isMeantForUs(clients, other)).toBe(false);
  expect(await isMeantForUs(createRoomClients(livekit()), other)).toBe(true);
});

test.each([
  ["one that serves it", { [AGENT_STATE_ATTRIBUTE]: "listening" }, false],
  ["one that has gone", GONE_ATTRIBUTES, true],
  ["an avatar's", { [ON_BEHALF_ATTRIBUTE]: "agent-gone" }, true],
])("whether a room with an agent needs another one: %s", async (_, attributes, isNeeded) => {
  const clients = createRoomClients(livekit());
  const room = `room-${createId()}`;
  await using user = await Participant.join(room, "user");
  await using _agent = await Participant.join(room, "agent-1", { kind: "agent", attributes });
  await expect.poll(() => user.room.remoteParticipants.size, { timeout: 5_000 }).toBe(1);

  const isAllowed = () => Promise.resolve(true);
  const dispatch = await ensureAgent(clients, room, { needsAgent: false, isAllowed });

  expect(dispatch !== undefined).toBe(isNeeded);
});
