import { expect, test } from "vitest";
import { z } from "zod";
import { afterCompaction } from "../../../src/model-server/compaction.ts";
import type { RecordedRequest } from "../../../src/model-server/model-server.ts";
import { tokensOf } from "../../../src/model-server/prompt-cache.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import type { Participant } from "../../support/participant.ts";

const TRIGGER = 50_000;
const look = defineTool({
  description: "L.",
  input: z.object({}),
  readOnly: true,
  run: () => "clear sky ".repeat(9_000),
});
const context = { budgetTokens: 200_000, hardTokens: 400_000, instructionBytes: 0 };
const edits = [{ type: "compact_20260112" as const, trigger: { type: "input_tokens", value: TRIGGER } }];

async function startAgent(): Promise<{ agent: TestAgent; user: Participant }> {
  const agent = await TestAgent.start({ tools: { look }, policy: { context }, edits });
  agent.model.script(({ body }, index) => {
    const last = (body["messages"] as { content: { type: string }[] }[]).at(-1);
    const isAnswered = last?.content.some(({ type }) => type === "tool_result") ?? false;
    return reply([isAnswered ? text(`Answer ${index}.`) : toolUse("look")]);
  });
  return { agent, user: await agent.client("user") };
}

async function talk(user: Participant, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++)
    expect(await user.answerTo(await user.say(`Look ${turn}`))).toMatch(/^Answer/);
}

const messagesJson = ({ body }: RecordedRequest) => JSON.stringify(body["messages"]);

test("the API's own summaries are sent back, and what precedes them is dropped", async () => {
  const { agent, user } = await startAgent();
  await using _ = agent;

  await talk(user, 8);

  expect(agent.model.rejections).toEqual([]);
  const last = agent.model.requests.at(-1) as RecordedRequest;
  expect(messagesJson(last)).toMatch(
    /"content":"Summary of \d+ tokens\.","encrypted_content":"enc_\d+","type":"compaction"/,
  );
  expect(messagesJson(last)).not.toContain("Look 1");
  const tokens = agent.model.requests.map(({ body }) => tokensOf(afterCompaction(body)));
  expect(Math.max(...tokens)).toBeLessThan(2 * TRIGGER);
  expect(Math.max(...agent.model.requests.map((request) => messagesJson(request).length))).toBeLessThan(
    2 * TRIGGER * 4,
  );
  expect(JSON.stringify(user.received)).not.toContain("Summary of");
});

test("between two of the API's summaries the previous request is read from the cache, with one miss for each summary", async () => {
  const { agent, user } = await startAgent();
  await using _ = agent;

  await talk(user, 8);

  const tokens = agent.model.requests.map(({ body }) => tokensOf(afterCompaction(body)));
  const shares = agent.model.requests.slice(1).map(({ usage }, index) => ({
    isNew: (tokens[index] ?? 0) > TRIGGER,
    share: Number(usage?.["cache_read_input_tokens"]) / (tokens[index] ?? 1),
  }));
  expect(shares.filter(({ share }) => share < 0.95).length).toBe(shares.filter(({ isNew }) => isNew).length);
  expect(shares.filter(({ isNew, share }) => !isNew && share < 0.95)).toEqual([]);
});

test("another worker continues with the same request", async () => {
  const { agent, user } = await startAgent();
  await using _ = agent;
  await talk(user, 5);
  await agent.leave();
  const before = agent.model.requests.length;
  await agent.join();

  await talk(user, 1);

  const [first, next] = agent.model.requests.slice(before - 1) as [RecordedRequest, RecordedRequest];
  expect(messagesJson(next)).toContain("Summary of");
  expect(Number(next.usage?.["cache_read_input_tokens"])).toBeGreaterThan(0.95 * tokensOf(afterCompaction(first.body)));
  expect(agent.model.rejections).toEqual([]);
});

test("the cost of the summaries is counted", async () => {
  const { agent, user } = await startAgent();
  await using _ = agent;

  await talk(user, 4);
  await agent.leave();

  const summarized = agent.model.requests.filter(({ body }) => tokensOf(afterCompaction(body)) > TRIGGER);
  expect(summarized.length).toBeGreaterThan(0);
  const promptOf = ({ usage = {} }: RecordedRequest) =>
    ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].reduce(
      (sum, key) => sum + Number(usage[key]),
      0,
    );
  const prompts = [...agent.model.requests, ...summarized].reduce((sum, request) => sum + promptOf(request), 0);
  const [row] = await agent.sql`
    select sum(input_tokens + cache_read_tokens + cache_write_tokens)::int as prompts from spending where scope = 'session'
  `;
  expect(row?.["prompts"]).toBe(prompts);
});
