import { expect, test } from "vitest";
import { z } from "zod";
import { conversationIdOfRoom } from "../../src/protocol/conversation-id.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { PublishedSession } from "../support/doubles/published-session.ts";
import { forFile } from "../support/lifetimes.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { EventServer } from "../support/servers/event-server.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";

const database = forFile(tempDatabase);

test("without notifications, a stream shows everything that is stored, each block whole", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url, listenUrl: undefined });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  await talk.say("One.");
  await reader.next(({ id }) => id === "1.end", 5_000);
  await talk.say("Two.", "Three.");
  await reader.next(({ id }) => id === "2.end", 5_000);

  const block = ["block_start", "block_delta", "block_stop"];
  expect(reader.names()).toEqual(
    [
      ["turn_start", ...block, "turn_complete"],
      ["turn_start", ...block, ...block, "turn_complete"],
    ].flat(),
  );
});

test("a call shown as running is later shown as ended, even if its turn has ended since the last poll", async () => {
  const end = Promise.withResolvers<string>();
  const scan = defineTool({ description: "Scans.", input: z.object({}), run: () => end.promise });
  await using agent = await TestAgent.start({ tools: { scan } });
  await using server = await EventServer.start({ databaseUrl: agent.databaseUrl, listenUrl: undefined });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("scan", {}, "toolu_1")]), reply([text("Done.")])]);
  await using reader = await server.open({ id: conversationIdOfRoom(agent.roomName), room: agent.roomName });
  const messageId = await user.say("Go");
  const seen = (status: string) => reader.next(({ data }) => data["status"] === status, 5_000);
  await seen("running");

  end.resolve("ok");

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect((await seen("success")).data).toMatchObject({ name: "scan", output: "ok" });
  expect(agent.model.rejections).toEqual([]);
});
