import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";

/** How long the test waits for messages that must not come: longer than a message takes to arrive. */
const A_WHILE_MS = 400;

test("running is reported when the call is stored and runs, not before", async () => {
  const ran: string[] = [];
  const order = defineTool({ description: "O.", input: z.object({}), run: () => void ran.push("order") });
  await using agent = await TestAgent.start({ tools: { order }, hasDatabaseProxy: true });
  const user = await agent.client("user", { features: ["tool_call_state"] });
  agent.model.script([reply([text("Wait."), toolUse("order")]), reply([text("Done.")])]);
  const statuses = () => user.all("tool_call_state").map(({ status }) => status);
  agent.database?.pause();
  const id = await user.say("Order");
  await user.next("tool_call_state");

  await sleep(A_WHILE_MS);
  expect([statuses(), ran]).toEqual([["pending"], []]);

  agent.database?.resume();
  await user.answerTo(id);
  await user.next("tool_call_state", ({ status }) => status === "success");
  expect(statuses()).toEqual(["pending", "running", "success"]);
});

test("a background call's receipt says that it has started only once it is stored and runs", async () => {
  const job = defineTool({
    description: "J.",
    input: z.object({}),
    background: true,
    run: () => new Promise(() => {}),
  });
  await using agent = await TestAgent.start({ tools: { job }, hasDatabaseProxy: true });
  const user = await agent.client("user", { features: ["blocks", "tool_call_state"] });
  agent.model.script([reply([toolUse("job")]), reply([text("Started.")])]);
  agent.database?.pause();
  const id = await user.say("Go");
  await user.next("tool_call_state");

  await sleep(A_WHILE_MS);
  expect(agent.model.requests).toHaveLength(1);

  agent.database?.resume();
  expect(await user.answerTo(id)).toBe("Started.");
});

test("a tool's result is stored before any of its block events is sent", async () => {
  const pause = { now: () => {} };
  const order = defineTool({
    description: "O.",
    input: z.object({}),
    run: () => {
      pause.now();
      return "ordered";
    },
  });
  await using agent = await TestAgent.start({ tools: { order }, hasDatabaseProxy: true });
  pause.now = () => agent.database?.pause();
  const user = await agent.client("user", { features: ["blocks", "tool_call_state"] });
  agent.model.script([reply([toolUse("order")]), reply([text("Done.")])]);
  const ofResult = () => user.all("block_event").filter(({ sequence }) => sequence === 1);
  const id = await user.say("Order");
  await user.next("tool_call_state", ({ status }) => status === "success");

  await sleep(A_WHILE_MS);
  expect(ofResult()).toEqual([]);

  agent.database?.resume();
  await user.answerTo(id);
  expect(ofResult().map(({ event }) => event)).toEqual(["block_start", "block_delta", "block_stop"]);
});
