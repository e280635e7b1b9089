import { expect, inject, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { createRoomClients, isMeantForUs, requestAgent } from "../../../src/worker/dispatch/ensure-agent.ts";

const livekit = () => ({
  url: inject("livekitUrl"),
  apiKey: inject("livekitApiKey"),
  apiSecret: inject("livekitApiSecret"),
});

test("the agent that is asked for in the place of another gets the metadata of the dispatch before", async () => {
  const clients = createRoomClients(livekit());
  const room = `room-${createId()}`;
  await clients.rooms.createRoom({ name: room });
  await clients.dispatches.createDispatch(room, "", { metadata: '{"agent": "billing"}' });
  await clients.dispatches.createDispatch(room, "");

  await requestAgent(clients, room);

  const told = (await clients.dispatches.listDispatch(room)).map(({ metadata }) => metadata);
  expect(told.filter((metadata) => metadata === '{"agent": "billing"}')).toHaveLength(2);
});

test("a worker with a name is meant for the rooms that were dispatched to it, and one without for all", async () => {
  const [dispatched, other] = [`room-${createId()}`, `room-${createId()}`];
  const clients = createRoomClients(livekit(), "billing");
  for (const name of [dispatched, other]) await clients.rooms.createRoom({ name });
  await clients.dispatches.createDispatch(dispatched, "billing");
  await clients.dispatches.createDispatch(other, "sales");

  expect(await isMeantForUs(clients, dispatched)).toBe(true);
  expect(await isMeantForUs(clients, other)).toBe(false);
  expect(await isMeantForUs(createRoomClients(livekit()), other)).toBe(true);
});
