import { ConnectionState } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test } from "vitest";
import { z } from "zod";
import { createId } from "../../../src/lib/id.ts";
import { noHeaders, reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { type TempDatabase, tempDatabase } from "../../support/servers/temp-database.ts";

async function removeAgent(room: string, { sql }: Pick<TempDatabase, "sql">): Promise<void> {
  const rooms = new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));
  const participants = await rooms.listParticipants(room);
  const agent = participants.find(({ identity }) => identity.startsWith("agent-"))?.identity ?? "";
  await rooms.removeParticipant(room, agent);
  await expect.poll(() => sql`select lease_owner from sessions`, { timeout: 10_000 }).toEqual([{ lease_owner: null }]);
}

test("an agent that loses its room leaves its running turn to the next agent", async () => {
  await using database = await tempDatabase();
  const talk = { roomName: `room-${createId()}`, databaseUrl: database.url };
  await using first = await TestAgent.start(talk);
  first.model.script([noHeaders()]);
  const user = await first.client("user");
  const id = await user.say("Hello?");
  await expect.poll(() => first.model.requests.length).toBe(1);

  await removeAgent(talk.roomName, database);
  expect(await database.sql`select state from turns`).toEqual([{ state: "running" }]);

  await using second = await TestAgent.start(talk);
  second.model.script([reply([text("Here I am.")])]);
  expect(await user.answerTo(id, 20_000)).toBe("Here I am.");
});

test("an answer given by two agents arrives in full, even if the first may not have sent what it stored", async () => {
  await using database = await tempDatabase();
  const look = defineTool({ description: "Looks.", input: z.object({}), run: () => "seen" });
  const talk = { roomName: `room-${createId()}`, databaseUrl: database.url, tools: { look } };
  await using first = await TestAgent.start(talk);
  first.model.script([reply([text("I look."), toolUse("look")]), noHeaders()]);
  const user = await first.client("user");
  const id = await user.say("Is it there?");
  await expect.poll(() => first.model.requests.length).toBe(2);
  await removeAgent(talk.roomName, database);

  await using second = await TestAgent.start(talk);
  second.model.script([reply([text("It is.")])]);

  const whole = await user.next("assistant_message", () => true, 20_000);
  expect(whole).toMatchObject({ previousId: id, content: "I look.\nIt is." });
  expect(await user.answerTo(id)).toBe("I look. It is.");
});

test("an agent that is cut off when its job ends leaves its running turn to the next agent", async () => {
  await using database = await tempDatabase();
  const talk = { roomName: `room-${createId()}`, databaseUrl: database.url };
  await using first = await TestAgent.start({
    ...talk,
    prepareRoom: (room) => {
      // Simulates an agent that still tries to reconnect when its job ends: LiveKit ends the job of an agent whose
      // connection it has lost.
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
