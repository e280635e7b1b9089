import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { allResults, messagesTo } from "../../support/model-view.ts";

/** A tool whose runs wait until the test opens it. */
function gate(onInterrupt?: "finish" | "cancel" | "block") {
  const opened = Promise.withResolvers<string>();
  const started = Promise.withResolvers<AbortSignal>();
  const tool = defineTool({
    description: "Waits.",
    input: z.object({}),
    ...(onInterrupt && { onInterrupt }),
    run: (_input, { signal }) => {
      started.resolve(signal);
      return opened.promise;
    },
  });
  return { tool, open: opened.resolve, started: started.promise };
}

test("onInterrupt finish: the model is told that the tool is still running, and about its end in a separate turn", async () => {
  const order = gate();
  await using agent = await TestAgent.start({ tools: { order: order.tool }, policy: { onNewMessage: "interrupt" } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("order")]), reply([text("Yes?")]), reply([text("It is placed.")])]);
  await user.say("Order it");
  await order.started;

  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes?");
  const results = allResults(agent);
  expect(results).toMatchObject([{ content: "Still running. Its outcome will be reported when it arrives." }]);
  order.open("order 17");
  await user.next("assistant_sentence", (body) => body.text === "It is placed.");

  expect(messagesTo(agent).at(-1)?.content).toMatchObject([{ type: "tool_result", content: "order 17" }]);
  expect(agent.model.rejections).toEqual([]);
  await agent.leave();
  expect(await agent.calls()).toMatchObject([{ name: "order", state: "success" }]);
});

test("onInterrupt cancel: the tool is aborted, and the model is told so", async () => {
  const look = gate("cancel");
  await using agent = await TestAgent.start({ tools: { look: look.tool }, policy: { onNewMessage: "interrupt" } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("look")]), reply([text("Yes?")])]);
  await user.say("Look");
  const signal = await look.started;

  expect(await user.answerTo(await user.say("Never mind"))).toBe("Yes?");

  expect(signal.aborted).toBe(true);
  const results = allResults(agent);
  expect(results).toMatchObject([
    { content: "Cancelled while it was running; its outcome is unknown", is_error: true },
  ]);
});

test("onInterrupt block: the new message waits until the tool has ended", async () => {
  const pay = gate("block");
  await using agent = await TestAgent.start({ tools: { pay: pay.tool }, policy: { onNewMessage: "interrupt" } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("pay")]), reply([text("Paid.")]), reply([text("Hello.")])]);
  const first = await user.say("Pay");
  await pay.started;
  const second = await user.say("Hello?");
  await user.next("acknowledgement", (body) => body.acknowledgedStanzaId === 3);
  pay.open("done");
  expect(await user.answerTo(first)).toBe("Paid.");
  expect(await user.answerTo(second)).toBe("Hello.");
});
