import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";

/** Stores a turn that has used a tool and said its last words, but whose worker died before storing its end. */
async function leaveTurn(agent: TestAgent, stopReason: string | null, said = "It is ordered."): Promise<void> {
  await agent.leave();
  await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, input)
    select 'left', id, 1, 'user', 'm', '[{"type": "text", "text": "Order it"}]' from sessions`;
  const use = { tool_use_id: "toolu_1", tool_name: "order", input: {} };
  const result = { tool_use_id: "toolu_1", content: "Ordered.", is_error: false };
  await agent.sql`
    insert into turn_blocks (turn_id, sequence, block_type, text_content, content, stop_reason) values
      ('left', 0, 'tool_use', null, ${agent.sql.json(use)}, null),
      ('left', 1, 'tool_result', null, ${agent.sql.json(result)}, null),
      ('left', 2, 'text', ${said}, null, ${stopReason})`;
  await agent.sql`
    insert into tool_calls (id, turn_id, tool_use_id, name, execution_asked, state, timeout_ms, idempotency_key, input, result)
    values ('call', 'left', 'toolu_1', 'order', 'server', 'success', 1000, 'key', '{}', '"Ordered."')`;
}

const stateOf = async ({ sql }: TestAgent) => (await sql`select state, stop_reason from turns where id = 'left'`)[0];

test("the next worker ends a turn that the model had finished, without another model call", async () => {
  await using agent = await TestAgent.start();
  await leaveTurn(agent, "end_turn");

  await agent.join();
  const user = await agent.client("user");

  const ended = { state: "completed", stop_reason: "end_turn" };
  await expect.poll(() => stateOf(agent), { timeout: 10_000 }).toMatchObject(ended);
  expect(agent.model.requests).toEqual([]);
  expect(await agent.sql`select id from tool_calls`).toHaveLength(1);
  expect(await user.next("assistant_message")).toMatchObject({ id: "m", content: "It is ordered." });
});

test.each(["max_tokens", null])(
  "a turn whose last words ended with %s is resumed with another model call",
  async (reason) => {
    await using agent = await TestAgent.start();
    await leaveTurn(agent, reason);
    agent.model.script([reply([text("Anything else?")])]);

    await agent.join();
    await agent.client("user");

    await expect.poll(() => stateOf(agent), { timeout: 10_000 }).toMatchObject({ state: "completed" });
    const shown = JSON.stringify(agent.model.requests.at(-1)?.body["messages"]);
    expect(shown).toContain("Ordered.");
    expect(shown).toContain("It is ordered.");
    expect(shown.indexOf("Continue exactly where it stopped")).toBeGreaterThan(shown.indexOf("It is ordered."));
    expect(await agent.sql`select id from tool_calls`).toHaveLength(1);
    expect(agent.model.rejections).toEqual([]);
  },
);

test("the last block of a model call is stored with its stop reason", async () => {
  await using agent = await TestAgent.start();
  agent.model.script([
    reply([text("Let me add."), toolUse("calculator", { expression: "1+1" })]),
    reply([text("It is two.")]),
  ]);
  const user = await agent.client("user");

  expect(await user.answerTo(await user.say("What is one and one?"))).toContain("It is two.");

  const blocks = async () => [
    ...(await agent.sql`select block_type, stop_reason from turn_blocks order by sequence`.values()),
  ];
  // Words are sent before they are stored.
  await expect.poll(blocks).toEqual([
    ["text", null],
    ["tool_use", null],
    ["tool_result", null],
    ["text", "end_turn"],
  ]);
});

test("sentences that the worker had stored and not sent are sent by the next one, with consecutive numbers", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  await leaveTurn(agent, "end_turn", "It is ordered. It comes at noon. Enjoy it.");
  await agent.sql`update turns set asides = 1, sent_sentences = 2, heard_sentences = 1`;

  await agent.join();
  await user.configure({});

  await user.next("assistant_sentence", ({ isFinal }) => isFinal);
  const sentences = user.all("assistant_sentence").map(({ sequence, text: sentence }) => `${sequence} ${sentence}`);
  expect(sentences).toEqual(["3 It comes at noon.", "4 Enjoy it.", "5 "]);
  expect(agent.model.requests).toEqual([]);
  const spoken = () => agent.sql`select state, heard, spoken_at is not null as spoken from turns`;
  await expect.poll(spoken).toEqual([{ state: "completed", heard: null, spoken: true }]);
});

test("the next worker says the rest of a finished turn's answer, and neither runs nor ends that turn again", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  await leaveTurn(agent, "end_turn", "It is ordered. It comes at noon. Enjoy it.");
  await agent.sql`update turns set state = 'completed', asides = 1, sent_sentences = 2, heard_sentences = 1`;

  await agent.join();
  await user.configure({ features: ["blocks"] });

  await user.next("block_event", ({ event }) => event === "turn_spoken");
  const sentences = user.all("assistant_sentence").map(({ sequence, text: sentence }) => `${sequence} ${sentence}`);
  expect(sentences).toEqual(["3 It comes at noon.", "4 Enjoy it.", "5 "]);
  expect(user.all("block_event").map(({ event }) => event)).toEqual(["turn_spoken"]);
  expect(await agent.sql`select state, heard, spoken_at is not null as spoken from turns`).toMatchObject([
    { state: "completed", heard: null, spoken: true },
  ]);
  expect(agent.model.requests).toEqual([]);
});

test.each([
  ["was interrupted", "interrupted", true],
  ["was spoken to its end", "completed", false],
])("a finished turn whose answer %s is not said again", async (_, state, isUnspoken) => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  await leaveTurn(agent, "end_turn", "It is ordered. Enjoy it.");
  await agent.sql`
    update turns set state = ${state}, sent_sentences = 1, heard_sentences = 1,
      spoken_at = case when ${isUnspoken}::boolean then null else now() end`;
  agent.model.script([reply([text("Yes?")])]);

  await agent.join();
  await user.configure({});

  expect(await user.answerTo(await user.say("Hello?"))).toBe("Yes?");
  expect(
    user
      .all("assistant_sentence")
      .map(({ text: sentence }) => sentence)
      .filter(Boolean),
  ).toEqual(["Yes?"]);
});

test.each([
  ["running", "failed"],
  ["completed", "completed"],
])("if an answer was left %s long ago, the model is shown what was heard, and nothing is said", async (left, state) => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  await leaveTurn(agent, "end_turn", "It is ordered. It comes at noon. Enjoy it.");
  await agent.sql`
    update turns set state = ${left}, sent_sentences = 2, heard_sentences = 1, created_at = now() - interval '1 hour'`;
  agent.model.script([reply([text("Yes?")])]);

  await agent.join();
  await user.configure({});

  expect(await user.answerTo(await user.say("Hello?"))).toBe("Yes?");
  expect(user.all("start_answer")).toHaveLength(1);
  expect(await agent.sql`select state, heard, spoken_at is not null as spoken from turns where id = 'left'`).toEqual([
    { state, heard: "It is ordered.", spoken: true },
  ]);
  const shown = JSON.stringify(agent.model.requests.at(-1)?.body["messages"]);
  expect(shown).toContain("It is ordered.");
  expect(shown).not.toContain("noon");
});
