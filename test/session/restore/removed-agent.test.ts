import { ConnectionState } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { noHeaders, reply, text } from "../../../src/testing/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

test("an agent that loses its room leaves its running turn to the next one", async () => {
  await using database = await tempDatabase();
  const talk = { roomName: `room-${createId()}`, databaseUrl: database.url };
  await using first = await TestAgent.start(talk);
  first.model.script([noHeaders()]);
  const user = await first.client("user");
  const id = await user.say("Hello?");
  await expect.poll(() => first.model.requests.length).toBe(1);

  const rooms = new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));
  const participants = await rooms.listParticipants(talk.roomName);
  const agent = participants.find(({ identity }) => identity.startsWith("agent-"))?.identity ?? "";
  await rooms.removeParticipant(talk.roomName, agent);
  await expect
    .poll(() => database.sql`select lease_owner from sessions`, { timeout: 10_000 })
    .toEqual([{ lease_owner: null }]);
  expect(await database.sql`select state from turns`).toEqual([{ state: "running" }]);

  await using second = await TestAgent.start(talk);
  second.model.script([reply([text("Here I am.")])]);
  expect(await user.answerTo(id, 20_000)).toBe("Here I am.");
});

test("an agent that is cut off when its job ends leaves its running turn to the next one", async () => {
  await using database = await tempDatabase();
  const talk = { roomName: `room-${createId()}`, databaseUrl: database.url };
  await using first = await TestAgent.start({
    ...talk,
    prepareRoom: (room) => {
      // LiveKit ends the job of an agent that it hears no more, which itself still tries to reach it.
      Object.defineProperty(room, "connectionState", { get: () => ConnectionState.CONN_RECONNECTING });
    },
  });
  first.model.script([noHeaders()]);
  const user = await first.client("user");
  await user.say("Hello?");
  await expect.poll(() => first.model.requests.length).toBe(1);

  await first[Symbol.asyncDispose]();

  expect(await database.sql`select state from turns`).toEqual([{ state: "running" }]);
});
