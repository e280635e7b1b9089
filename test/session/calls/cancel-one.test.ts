import { expect, test } from "vitest";
import { z } from "zod";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { allResults, toolResults } from "../../support/model-view.ts";
import type { Participant } from "../../support/participant.ts";

const RUNNING = "Cancelled by a participant while it was running; its outcome is unknown";
const SCAN = { name: "scan", description: "S.", inputSchema: { type: "object" } };
const FEATURES = ["tool_use_cancel", "tool_call_state", "permissions", "blocks"];

const endOf = (user: Participant, id: string) =>
  user.next("tool_call_state", (state) => state.id === id && state.finishedAt !== undefined);
const cancel = (user: Participant, targetId: string) =>
  user.send({ type: "control_stop", body: { targetId, stopType: "all" } });

/** A tool that runs until it is aborted. */
function stuckTool(more: { background?: boolean } = {}) {
  const aborted = Promise.withResolvers<void>();
  const tool = defineTool({
    description: "S.",
    input: z.object({}),
    ...more,
    run: (_input, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve(), { once: true });
      return new Promise<string>(() => {});
    },
  });
  return { tool, aborted: aborted.promise };
}

test("a device's call is cancelled by its id, the other call and the turn continue, and the model is told", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { features: FEATURES, tools: [SCAN, { ...SCAN, name: "look" }] });
  agent.model.script([reply([toolUse("scan"), toolUse("look")]), reply([text("I only looked.")])]);
  const id = await user.say("Scan and look");
  const scan = await user.next("tool_use_request", ({ toolName }) => toolName === "scan");
  const look = await user.next("tool_use_request", ({ toolName }) => toolName === "look");

  await cancel(user, scan.id);

  expect(await user.next("tool_use_cancel")).toMatchObject({ id: scan.id, reason: "interrupted" });
  expect(await endOf(user, scan.id)).toMatchObject({ status: "cancelled", error: RUNNING });
  await user.answer(scan.id, { success: false, errorCode: "cancelled", errorMessage: "Stopped." });
  await user.answer(look.id, { success: true, result: { seen: "a cat" } });
  expect(await user.answerTo(id)).toBe("I only looked.");
  expect(toolResults(agent)).toEqual([
    { content: RUNNING, isError: true },
    { content: '{"seen":"a cat"}', isError: false },
  ]);
  expect(await agent.calls()).toMatchObject([
    { name: "scan", state: "cancelled", error_code: "cancelled", extra_answers: [{ kind: "late" }] },
    { name: "look", state: "success" },
  ]);
  expect((await user.next("block_event", ({ event }) => event === "turn_complete")).state).toBe("completed");
});

test("a server tool's call is cancelled by its id: its signal is aborted, and everybody gets the result", async () => {
  const stuck = stuckTool();
  await using agent = await TestAgent.start({ tools: { stuck: stuck.tool } });
  const user = await agent.client("user", { features: FEATURES });
  const other = await agent.client("other");
  agent.model.script([reply([toolUse("stuck")]), reply([text("Given up.")])]);
  const id = await user.say("Go");
  const request = await user.next("tool_use_request");

  await cancel(other, request.id);

  await stuck.aborted;
  for (const each of [user, other])
    expect(await each.next("tool_use_result")).toMatchObject({ id: request.id, errorCode: "cancelled" });
  expect(await endOf(user, request.id)).toMatchObject({ status: "cancelled" });
  expect(await user.answerTo(id)).toBe("Given up.");
  expect(toolResults(agent)).toEqual([{ content: RUNNING, isError: true }]);
});

test("a call that waits for permission is cancelled by its id: the question is withdrawn, and nothing runs", async () => {
  const write = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: write.tool } });
  const user = await agent.client("user", { features: FEATURES });
  agent.model.script([reply([toolUse("write", { path: "a.md" })]), reply([text("Not written.")])]);
  const id = await user.say("Write");
  const { callId = "", id: permissionId } = await user.next("permission_request");

  await cancel(user, callId);

  expect(await user.next("permission_response")).toMatchObject({ permissionId, state: "withdrawn" });
  expect(await user.next("tool_use_result")).toMatchObject({ id: callId, success: false, errorCode: "cancelled" });
  expect(await endOf(user, callId)).toMatchObject({ status: "cancelled" });
  expect(await user.answerTo(id)).toBe("Not written.");
  expect(toolResults(agent)).toEqual([{ content: "Cancelled by a participant before it was started", isError: true }]);
  expect(write.ran).toEqual([]);
});

test("a call whose turn has ended is cancelled by its id, and the model is told in the next turn", async () => {
  const stuck = stuckTool({ background: true });
  await using agent = await TestAgent.start({ tools: { stuck: stuck.tool } });
  const user = await agent.client("user", { features: FEATURES });
  agent.model.script([reply([toolUse("stuck")]), reply([text("Started.")]), reply([text("It was cancelled.")])]);
  await user.answerTo(await user.say("Go"));
  const { id } = await user.next("tool_use_request");

  await cancel(user, id);

  await stuck.aborted;
  await endOf(user, id);
  expect(await user.answerTo(await user.say("And?"))).toBe("It was cancelled.");
  expect(allResults(agent).at(-1)).toMatchObject({ content: RUNNING });
});

test("an either call that a client has claimed is cancelled by its id, and the server does not take it over", async () => {
  const runs: string[] = [];
  const either = defineTool({
    description: "E.",
    input: z.object({}),
    execution: "either",
    idempotent: true,
    run: () => void runs.push("run"),
  });
  await using agent = await TestAgent.start({ tools: { either } });
  const user = await agent.client("user", { features: [...FEATURES, "claims"] });
  agent.model.script([reply([toolUse("either")]), reply([text("Fine.")])]);
  const id = await user.say("Go");
  const request = await user.next("tool_use_request");
  const { stanzaId } = user.received.find(({ message }) => message.type === "tool_use_request") ?? { stanzaId: 0 };
  await user.send({ type: "acknowledgement", body: { acknowledgedStanzaId: stanzaId, success: true } });
  await user.next("tool_call_state", ({ metadataJson }) => metadataJson.includes('"execution":"client"'));

  await cancel(user, request.id);

  expect(await user.next("tool_use_cancel")).toMatchObject({ id: request.id });
  expect(await user.answerTo(id)).toBe("Fine.");
  expect(runs).toEqual([]);
});

test("a ControlStop with an unknown id is answered with an error, and stops nothing", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { features: FEATURES, tools: [SCAN] });
  agent.model.script([reply([toolUse("scan")]), reply([text("Scanned.")])]);
  const id = await user.say("Scan");
  const request = await user.next("tool_use_request");

  const stanzaId = await cancel(user, "nothing");

  await user.next("acknowledgement", ({ acknowledgedStanzaId }) => acknowledgedStanzaId === stanzaId);
  // The error arrives before the Ack, so the sender knows from an Ack that no error will follow.
  expect(user.all("error_message")).toMatchObject([{ code: 201, originatingId: "nothing" }]);
  await user.answer(request.id, { success: true });
  expect(await user.answerTo(id)).toBe("Scanned.");
});

test("a ControlStop for an answer, a message or a call that has ended changes nothing, and is no error", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { features: FEATURES, tools: [SCAN] });
  agent.model.script([reply([toolUse("scan")]), reply([text("Scanned.")]), reply([text("Yes.")])]);
  const id = await user.say("Scan");
  const request = await user.next("tool_use_request");
  await user.answer(request.id, { success: true });
  await user.answerTo(id);

  for (const ended of [request.id, request.messageId, id]) await cancel(user, ended);
  await cancel(user, "nothing");

  await user.next("error_message", ({ originatingId }) => originatingId === "nothing");
  expect(user.all("error_message")).toHaveLength(1);
  expect(await user.answerTo(await user.say("Done?"))).toBe("Yes.");
});
