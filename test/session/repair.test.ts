import { expect, test } from "vitest";
import { TestAgent } from "../support/agent.ts";
import { guardedTool, toolResults } from "../support/guarded-tool.ts";
import { reply, text, toolUse } from "../support/model-server/step.ts";

type Messages = { content: { type: string; content?: string }[] }[];

test("a turn that was left running long ago is ended, and the model is told what is known of each call", async () => {
  await using agent = await TestAgent.start();
  await agent.leave();
  await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, input, created_at)
    select 'old', id, 1, 'user', 'm', '[{"type": "text", "text": "Go"}]', now() - interval '1 hour' from sessions`;
  for (const [sequence, name] of ["done", "pending", "never"].entries()) {
    const content = { tool_use_id: name, tool_name: name, input: {} };
    await agent.sql`
      insert into turn_blocks (turn_id, sequence, block_type, content)
      values ('old', ${sequence}, 'tool_use', ${agent.sql.json(content)})`;
  }
  for (const [name, state] of [
    ["done", "success"],
    ["pending", "pending"],
  ] as const) {
    await agent.sql`
      insert into tool_calls (id, turn_id, tool_use_id, name, execution_asked, state, timeout_ms, idempotency_key, input, result)
      values (${`call ${name}`}, 'old', ${name}, ${name}, 'server', ${state}, 1000, ${name}, '{}', '{"ok":1}')`;
  }
  await agent.join();
  const user = await agent.client("user");
  agent.model.script([reply([text("Yes.")])]);

  expect(await user.answerTo(await user.say("Still there?"))).toBe("Yes.");

  const messages = agent.model.requests.at(-1)?.body["messages"] as Messages;
  const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"));
  expect(results.map(({ content }) => content)).toEqual([
    '{"ok":1}',
    "Outcome unknown: the worker stopped while the tool ran.",
    "Not run: the worker stopped before the tool was started.",
  ]);
  expect(agent.model.rejections).toEqual([]);
  expect(await agent.sql`select state from turns where id = 'old'`).toMatchObject([{ state: "failed" }]);
  expect(await agent.sql`select state from tool_calls order by id`).toMatchObject([
    { state: "success" },
    { state: "error" },
  ]);
});

test("a call that waited for leave in such a turn was not run, and nobody is asked about it any more", async () => {
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
  expect(await agent.calls()).toMatchObject([{ state: "cancelled" }]);
  expect(await agent.sql`select state from permissions`).toEqual([{ state: "withdrawn" }]);
  expect(ran).toEqual([]);
});
