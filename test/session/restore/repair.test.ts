import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { allResults, toolResults } from "../../support/model-view.ts";

test("a turn left running long ago is ended, and the model is told what is known about each call", async () => {
  await using agent = await TestAgent.start();
  await agent.leave();
  await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, input, created_at)
    select 'old', id, 1, 'user', 'm', '[{"type": "text", "text": "Go"}]', now() - interval '1 hour' from sessions`;
  for (const [sequence, name] of ["done", "pending", "running", "never"].entries()) {
    const content = { tool_use_id: name, tool_name: name, input: {} };
    await agent.sql`
      insert into turn_blocks (turn_id, sequence, block_type, content)
      values ('old', ${sequence}, 'tool_use', ${agent.sql.json(content)})`;
  }
  for (const [name, state] of [
    ["done", "success"],
    ["pending", "pending"],
    ["running", "running"],
  ] as const) {
    await agent.sql`
      insert into tool_calls (id, turn_id, tool_use_id, name, execution_asked, state, timeout_ms, idempotency_key, input, result)
      values (${`call ${name}`}, 'old', ${name}, ${name}, 'server', ${state}, 1000, ${name}, '{}', '{"ok":1}')`;
  }
  await agent.join();
  const user = await agent.client("user");
  agent.model.script([reply([text("Yes.")])]);

  expect(await user.answerTo(await user.say("Still there?"))).toBe("Yes.");

  expect(allResults(agent).map(({ content }) => content)).toEqual([
    '{"ok":1}',
    "Not run: the worker stopped before the tool was started.",
    "Outcome unknown: the worker stopped while the tool ran.",
    "Not run: the worker stopped before the tool was started.",
  ]);
  expect(agent.model.rejections).toEqual([]);
  expect(await agent.sql`select state from turns where id = 'old'`).toMatchObject([{ state: "failed" }]);
  expect(await agent.sql`select state from tool_calls order by id`).toMatchObject([
    { state: "success" },
    { state: "error" },
    { state: "error" },
  ]);
});

test("a call whose end was lost, but not its result, ends with that result; one without a tool use has an unknown outcome", async () => {
  await using agent = await TestAgent.start();
  await agent.leave();
  await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, state)
    select 'old', id, 1, 'user', 'm', 'completed' from sessions`;
  const receipt = "Started in the background (call c). Its result will be reported when it arrives.";
  const blocks = [
    ["tool_use", { tool_use_id: "plain", tool_name: "look", input: {} }],
    ["tool_result", { tool_use_id: "plain", content: "clear sky" }],
    ["tool_use", { tool_use_id: "late", tool_name: "bake", input: {} }],
    ["tool_result", { tool_use_id: "late", content: receipt }],
    ["tool_use", { tool_use_id: "told", tool_name: "call_outcome", input: { tool_use_id: "late" } }],
    ["tool_result", { tool_use_id: "told", content: "burnt", is_error: true }],
  ] as const;
  for (const [sequence, [blockType, content]] of blocks.entries())
    await agent.sql`
      insert into turn_blocks (turn_id, sequence, block_type, content)
      values ('old', ${sequence}, ${blockType}, ${agent.sql.json(content)})`;
  for (const id of ["plain", "late", "none"])
    await agent.sql`
      insert into tool_calls (id, turn_id, tool_use_id, name, execution_asked, state, timeout_ms, idempotency_key, input)
      values (${id}, 'old', ${id}, 'look', 'server', 'running', 1000, ${id}, '{}')`;
  await agent.join();

  expect(await agent.sql`select id, state, result, error_message as why from tool_calls order by id`).toEqual([
    { id: "late", state: "error", result: null, why: "burnt" },
    { id: "none", state: "error", result: null, why: "Outcome unknown: the worker stopped while the tool ran." },
    { id: "plain", state: "success", result: { value: "clear sky" }, why: null },
  ]);
});

test("a call that waited for permission in such a turn was not run, and nobody is asked about it any more", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", { features: ["permissions"] });
  agent.model.script([reply([toolUse("write", { path: "a.md" })]), reply([text("Yes.")])]);
  await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");
  await agent.leave();
  await agent.sql`update turns set created_at = now() - interval '1 hour'`;
  await agent.join();
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  expect(await user.next("error_message")).toMatchObject({ code: 202, originatingId: permissionId });
  await user.answerTo(await user.say("Still there?"));

  expect(toolResults(agent)).toEqual([
    { content: "Not run: the worker stopped before the tool was started.", isError: true },
  ]);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "not_run" }]);
  expect(await agent.sql`select state from permissions`).toEqual([{ state: "withdrawn" }]);
  expect(ran).toEqual([]);
});
