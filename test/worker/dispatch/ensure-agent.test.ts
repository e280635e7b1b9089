import { expect, inject, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { createRoomClients, requestAgent } from "../../../src/worker/dispatch/ensure-agent.ts";

test("the agent that is asked for in the place of another gets the metadata of the dispatch before", async () => {
  const [url, apiKey, apiSecret] = [inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret")];
  const clients = createRoomClients({ url, apiKey, apiSecret });
  const room = `room-${createId()}`;
  await clients.rooms.createRoom({ name: room });
  await clients.dispatches.createDispatch(room, "", { metadata: '{"agent": "billing"}' });
  await clients.dispatches.createDispatch(room, "");

  await requestAgent(clients, room);

  const told = (await clients.dispatches.listDispatch(room)).map(({ metadata }) => metadata);
  expect(told.filter((metadata) => metadata === '{"agent": "billing"}')).toHaveLength(2);
});
