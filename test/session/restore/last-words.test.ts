import { expect, test } from "vitest";
import { reply, text } from "../../../src/testing/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";

test("a turn whose last words were stored, and not its end, is taken up by asking the model to go on", async () => {
  await using agent = await TestAgent.start();
  await agent.leave();
  await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, input)
    select 'left', id, 1, 'user', 'm', '[{"type": "text", "text": "Order it"}]' from sessions`;
  const use = { tool_use_id: "toolu_1", tool_name: "order", input: {} };
  const result = { tool_use_id: "toolu_1", content: "Ordered.", is_error: false };
  await agent.sql`
    insert into turn_blocks (turn_id, sequence, block_type, text_content, content) values
      ('left', 0, 'tool_use', null, ${agent.sql.json(use)}),
      ('left', 1, 'tool_result', null, ${agent.sql.json(result)}),
      ('left', 2, 'text', 'It is ordered.', null)`;
  await agent.sql`
    insert into tool_calls (id, turn_id, tool_use_id, name, execution_asked, state, timeout_ms, idempotency_key, input, result)
    values ('call', 'left', 'toolu_1', 'order', 'server', 'success', 1000, 'key', '{}', '"Ordered."')`;
  agent.model.script([reply([text("Anything else?")])]);

  await agent.join();
  await agent.client("user");

  const state = () => agent.sql`select state from turns where id = 'left'`;
  await expect.poll(state, { timeout: 10_000 }).toMatchObject([{ state: "completed" }]);
  const shown = JSON.stringify(agent.model.requests.at(-1)?.body["messages"]);
  expect(shown).toContain("Ordered.");
  expect(shown).toContain("It is ordered.");
  expect(shown.indexOf("Continue exactly where it stopped")).toBeGreaterThan(shown.indexOf("It is ordered."));
  expect(await agent.sql`select id from tool_calls`).toHaveLength(1);
  expect(agent.model.rejections).toEqual([]);
});
