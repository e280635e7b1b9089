import { expect, test } from "vitest";
import { z } from "zod";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";

test("a tool receives the ids of the session and the room, under which to keep its state", async () => {
  const seen: unknown[] = [];
  const look = defineTool({
    description: "Looks.",
    input: z.object({}),
    run: (_, { room, roomSid, sessionId }) => void seen.push([room, roomSid, sessionId]),
  });
  await using agent = await TestAgent.start({ tools: { look }, hasHooks: true });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("look", {})]), reply([text("Seen.")])]);

  await user.answerTo(await user.say("Look"));

  const [session] = await agent.sql<{ id: string }[]>`select id from sessions`;
  expect(seen).toEqual([[agent.roomName, expect.stringMatching(/^RM_/u), session?.id]]);
});
