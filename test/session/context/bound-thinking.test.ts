import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { announced } from "../../support/client-tool.ts";
import { startModelServer, type ModelServer, type RecordedRequest } from "../../../src/model-server/model-server.ts";
import { reply, text, thinking, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

const WORDS = "It has been a long day, and there is much to tell of it. ".repeat(4);
const look = defineTool({
  description: "L.",
  input: z.object({}),
  readOnly: true,
  run: () => "clear sky ".repeat(200),
});
const policy = { context: { budgetTokens: 2_000, hardTokens: 8_000, instructionBytes: 0 } };

/**
 * An agent whose model thinks in each step. The model accepts a thinking block only after the same content that
 * preceded it when it was written.
 */
async function startAgent(): Promise<{ agent: TestAgent; model: ModelServer } & AsyncDisposable> {
  const model = await startModelServer({ bindsThinking: true });
  const agent = await TestAgent.start({ tools: { look }, policy, modelUrl: model.url });
  model.script(({ body }, index) => {
    const last = (body["messages"] as { content: { type: string }[] }[]).at(-1);
    const isAnswered = last?.content.some(({ type }) => type === "tool_result") ?? false;
    const thought = thinking(`Thought ${index}.`);
    return reply(isAnswered || index % 3 > 0 ? [thought, text(`${index}. ${WORDS}`)] : [thought, toolUse("look")]);
  });
  return {
    agent,
    model,
    [Symbol.asyncDispose]: async () => {
      await agent[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

async function talk(user: Participant, turns: number): Promise<string[]> {
  const answers: string[] = [];
  for (let count = 0; count < turns; count++) answers.push(await user.answerTo(await user.say(`And then? ${WORDS}`)));
  return answers;
}

const thoughtsIn = ({ body }: RecordedRequest) =>
  (body["messages"] as { content: { type: string }[] }[])
    .flatMap(({ content }) => content)
    .filter(({ type }) => type === "thinking").length;

test("when older turns are left out and results shortened, no request is refused because of the thinking that follows them", async () => {
  await using started = await startAgent();
  const { agent, model } = started;
  const user = await agent.client("user");

  await talk(user, 30);

  expect(model.rejections).toEqual([]);
  expect(JSON.stringify(model.requests.at(-1)?.body["messages"])).toContain("are no longer shown");
  expect(Math.max(...model.requests.slice(-10).map(thoughtsIn))).toBeGreaterThan(1);
});

test("when tools have changed, the request is repeated without the thinking, once", async () => {
  await using started = await startAgent();
  const { agent, model } = started;
  const user = await agent.client("user", { tools: [] });
  await talk(user, 3);
  await user.configure({ tools: [announced("scan")] });

  const answers = await talk(user, 3);

  expect(answers.every((answer) => answer.includes("It has been a long day"))).toBe(true);
  expect(model.rejections).toEqual([expect.stringContaining("bound to a different conversation")]);
});

test("the next worker does not send thinking that was left out before", async () => {
  await using started = await startAgent();
  const { agent, model } = started;
  const user = await agent.client("user", { tools: [] });
  await talk(user, 20);
  await agent.leave();
  await agent.join();
  await user.configure({ tools: [] });

  await talk(user, 2);

  expect(model.rejections).toEqual([]);
});
