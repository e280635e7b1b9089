import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";
import type { RecordedRequest } from "../../../src/model-server/model-server.ts";
import { reply, stallAfter, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

const look = defineTool({ description: "L.", input: z.object({}), readOnly: true, run: () => "clear sky ".repeat(40) });
const context = { budgetTokens: 2_000, hardTokens: 8_000 };
const WORDS = "It has been a long day, and there is much to tell of it. ".repeat(4);

const isNotes = ({ body }: RecordedRequest) => body["model"] === "small";
const callsOf = (agent: TestAgent) => agent.model.requests.filter((request) => !isNotes(request));
const tokensOf = ({ usage = {} }: RecordedRequest) =>
  ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].reduce(
    (sum, key) => sum + Number(usage[key]),
    0,
  );
const firstText = ({ body }: RecordedRequest) => JSON.stringify((body["messages"] as unknown[])[0]);
const hasNotes = (request: RecordedRequest) => firstText(request).includes("Notes on turns");

const NOTES = reply([text("<notes>They told of their day.</notes>")]);

async function startAgent(options: AgentOptions = {}, notes = NOTES): Promise<{ agent: TestAgent; user: Participant }> {
  const policy = { context: { ...context, instructionBytes: 0 } };
  const agent = await TestAgent.start({ tools: { look }, policy, ...options });
  agent.model.script((request, index) => {
    if (isNotes(request)) return notes;
    const messages = request.body["messages"] as { content: { type: string }[] }[];
    const isAnswered = messages.at(-1)?.content.some(({ type }) => type === "tool_result") ?? false;
    return isAnswered || index % 3 > 0 ? reply([text(`${index}. ${WORDS}`)]) : reply([toolUse("look")]);
  });
  return { agent, user: await agent.client("user", { preferredLanguage: "de" }) };
}

async function talk(user: Participant, turns: number): Promise<void> {
  for (let count = 0; count < turns; count++) {
    await user.answerTo(await user.say(`And then? ${WORDS}`));
    // Leaves time for the notes, which are written in the background.
    await sleep(20);
  }
}

test("in a session with many turns no request is over the limit, and notes replace old turns", async () => {
  const { agent, user } = await startAgent({ summaryModel: "small" });
  await using _ = agent;

  await talk(user, 50);

  expect(agent.model.rejections).toEqual([]);
  expect(Math.max(...callsOf(agent).map(tokensOf))).toBeLessThan(context.hardTokens);
  const last = callsOf(agent).at(-1);
  expect(firstText(last as RecordedRequest)).toMatch(
    /\[Turns 1 to \d+ of this conversation are no longer shown.*\[Who has spoken: ..user.. \(de\)\.\].*\[Notes on turns 1 to \d+.*They told of their day\./,
  );
  const rows =
    await agent.sql`select from_position as from, to_position as to, text, model from summaries order by to_position`;
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.at(-1)).toMatchObject({ text: "They told of their day.", model: "small" });
});

test("between two summaries nearly all tokens of the previous request are read from the cache, with one miss for each summary", async () => {
  const { agent, user } = await startAgent({ summaryModel: "small" });
  await using _ = agent;

  await talk(user, 50);

  const calls = callsOf(agent).filter((request) => tokensOf(request) > 600);
  const shares = calls.slice(1).map((call, index) => {
    const before = calls[index] as RecordedRequest;
    const isNew = firstText(call) !== firstText(before);
    return { isNew, share: Number(call.usage?.["cache_read_input_tokens"]) / tokensOf(before) };
  });
  const [summaries] = await agent.sql`select count(*)::int as count from summaries`;
  expect(shares.filter(({ isNew, share }) => !isNew && share < 0.95)).toEqual([]);
  expect(shares.filter(({ isNew }) => isNew)).toHaveLength(Number(summaries?.["count"]));
});

test("another worker continues with the same request, which is in the cache", async () => {
  const { agent, user } = await startAgent({ summaryModel: "small" });
  await using _ = agent;
  await talk(user, 30);
  const before = callsOf(agent).at(-1) as RecordedRequest;
  await agent.leave();
  await agent.join();

  await user.answerTo(await user.say("Still there?"));

  const after = callsOf(agent).slice(callsOf(agent).indexOf(before) + 1)[0] as RecordedRequest;
  expect(hasNotes(after)).toBe(true);
  expect(firstText(after)).toBe(firstText(before));
  expect(Number(after.usage?.["cache_read_input_tokens"]) / tokensOf(before)).toBeGreaterThan(0.95);
});

test("without a model for notes old turns are left out as well, and the model is told where to find them", async () => {
  const { agent, user } = await startAgent();
  await using _ = agent;

  await talk(user, 30);

  const last = callsOf(agent).at(-1) as RecordedRequest;
  expect(firstText(last)).toContain("of this conversation are no longer shown. Search them with recall.");
  expect(hasNotes(last)).toBe(false);
  expect(agent.model.rejections).toEqual([]);
});

test("while the model for notes hangs every turn is answered, and old turns are left out without notes", async () => {
  const hanging = reply([text("<notes>They told")], { fault: stallAfter(2) });
  const { agent, user } = await startAgent({ summaryModel: "small", modelIdleTimeoutMs: 60_000 }, hanging);
  await using _ = agent;

  await talk(user, 30);

  expect(agent.model.requests.filter(isNotes)).toHaveLength(1);
  const last = callsOf(agent).at(-1) as RecordedRequest;
  expect(firstText(last)).toContain("of this conversation are no longer shown. Search them with recall.");
  expect(hasNotes(last)).toBe(false);
});

test("an edit far back continues with the context that was shown there", async () => {
  const { agent, user } = await startAgent({ summaryModel: "small" });
  await using _ = agent;
  const id = await user.say("The second message");
  await user.answerTo(id);
  await talk(user, 30);

  await user.send({ type: "control_variation", body: { targetId: id, mode: "edit", newContent: "Another one" } });
  await user.until(() => callsOf(agent).some(({ body }) => JSON.stringify(body).includes("Another one")), "an answer");

  const edited = callsOf(agent).find(({ body }) => JSON.stringify(body).includes("Another one")) as RecordedRequest;
  expect(edited.body["messages"]).toMatchObject([{ role: "user", content: [{ text: "Another one" }] }]);
});
