import { expect, test } from "vitest";
import { z } from "zod";
import { createRecallStore } from "../../../src/session/recall/recall-store.ts";
import { recallTool } from "../../../src/session/recall/recall-tool.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { type ServerTool, toServerTool } from "../../../src/tool/server-tool.ts";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { lastContent, offeredTools, toolResults } from "../../support/model-view.ts";

const LONG = Array.from({ length: 5_000 }, (_, line) => `line ${line}`).join("\n");
const report = defineTool({
  description: "R.",
  input: z.object({}),
  readOnly: true,
  run: () => LONG,
});

async function startAgent(options: AgentOptions & { readonly isAlwaysOffered?: boolean } = {}): Promise<TestAgent> {
  const tools = new Map<string, ServerTool>([["report", toServerTool("report", report, undefined)]]);
  const agent = await TestAgent.start({ liveTools: tools, ...options });
  const { isAlwaysOffered = true } = options;
  tools.set("recall", recallTool(createRecallStore(agent.sql), { isAlwaysOffered }));
  return agent;
}

/** Makes the model call recall with this input. Returns the result that the model is shown. */
async function recalled(agent: TestAgent, input: Record<string, unknown>, identity = "user"): Promise<unknown> {
  const user = await agent.client(identity);
  agent.model.script([reply([toolUse("recall", input)]), reply([text("I see.")])]);
  await user.answerTo(await user.say("Do you remember?"));
  await user.leave();
  const [result] = toolResults(agent);
  return result?.isError === false ? (JSON.parse(result.content ?? "") as unknown) : result?.content;
}

test("earlier words and results are searched, and returned with their time, speaker and an id for reading on", async () => {
  await using agent = await startAgent();
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("report", {}, "toolu_report")]), reply([text("The report is long.")])]);
  await user.answerTo(await user.say("Fetch the report, please"));
  await user.leave();
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string;

  expect(await recalled(agent, { words: "report" })).toEqual({
    found: [
      { turn: 1, at, speaker: "user", text: "Fetch the report, please" },
      { turn: 1, at, speaker: "agent", text: "The report is long." },
    ],
  });
  expect(await recalled(agent, { words: "line 4321", speaker: "tool" })).toMatchObject({
    found: [{ speaker: "tool", tool: "report", id: "toolu_report" }],
  });
  expect(await recalled(agent, { words: "unheard" })).toMatchObject({ found: [], note: expect.any(String) as string });
  expect(agent.model.rejections).toEqual([]);
});

test("a stored result is returned by the id of its use or its call, in pieces", async () => {
  await using agent = await startAgent();
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("report", {}, "toolu_report")]), reply([text("Done.")])]);
  await user.answerTo(await user.say("Go"));
  await user.leave();
  const [call] = await agent.sql<{ id: string }[]>`select id from tool_calls`;

  const first = (await recalled(agent, { id: "toolu_report" })) as { text: string; nextOffset: number };
  const second = (await recalled(agent, { id: call?.id, offset: first.nextOffset })) as { text: string };
  const third = (await recalled(agent, { id: call?.id, offset: 40_000 })) as { text: string };

  expect(first).toMatchObject({ id: "toolu_report", tool: "report", state: "success", characters: LONG.length });
  expect([first.text, second.text, third.text].join("")).toBe(LONG);
  expect(third).not.toHaveProperty("nextOffset");
});

test("a result in the running turn is returned as well", async () => {
  await using agent = await startAgent();
  const user = await agent.client("user");
  agent.model.script([
    reply([toolUse("report", {}, "toolu_now")]),
    reply([toolUse("recall", { id: "toolu_now", offset: LONG.length - 9 })]),
    reply([text("Done.")]),
  ]);
  await user.answerTo(await user.say("Go"));

  expect(JSON.parse(String(lastContent(agent)))).toMatchObject({ text: "line 4999" });
});

test("results from another conversation are treated as missing", async () => {
  await using agent = await startAgent();
  await using other = await startAgent({ databaseUrl: agent.databaseUrl });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("report", {}, "toolu_foreign")]), reply([text("A walnut.")])]);
  await user.answerTo(await user.say("Go"));

  expect(await recalled(other, { id: "toolu_foreign" })).toBe(
    "id: this conversation has no call or tool use with this id, or it has no result yet",
  );
  expect(await recalled(other, { words: "walnut" })).toMatchObject({ found: [] });
});

test("recall is offered once the model is no longer shown the whole conversation", async () => {
  await using agent = await startAgent({ isAlwaysOffered: false });
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);
  await user.answerTo(await user.say("First"));
  const whole = offeredTools(agent);
  await agent.leave();
  await agent.sql`update turns set position = position + 1, context = '{"from": 2}'`;
  await agent.join();
  await user.answerTo(await user.say("Second"));

  expect([whole, offeredTools(agent)]).toEqual([["report"], ["recall", "report"]]);
});

test("a rule can deny recall", async () => {
  const rules = [{ type: "tool", pattern: "recall", action: "deny" as const }];
  await using agent = await startAgent({ policy: { permission: { rules, byVoice: false, waitMs: 60_000 } } });

  expect(await recalled(agent, { words: "x" })).toMatch(/^Not run: /);
});

test.each([
  [{ words: "!!!" }, "words: expected letters or digits"],
  [{ from: "yesterday" }, 'Invalid parameter "from": expected a time as 2026-11-22T16:00:00Z'],
])("a call with %j returns what was wrong", async (input, error) => {
  await using agent = await startAgent();

  expect(await recalled(agent, input)).toBe(error);
});
