import { expect, test } from "vitest";
import { z } from "zod";
import { type ModelServer, startModelServer } from "../../../src/model-server/model-server.ts";
import {
  destroySocket,
  httpError,
  noHeaders,
  pingsOnly,
  reply,
  stallAfter,
  type Step,
  text,
  thinking,
  toolUse,
} from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { type AgentOptions, TestAgent } from "../../support/agent.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { outline } from "../../support/model-view.ts";

const second = forEachTest(startModelServer);

/** An agent that calls its own model server first, and then `second`. No call waits before it is repeated. */
async function start(options: AgentOptions = {}) {
  const model = [{ name: "claude-test" }, { name: "claude-other", baseUrl: second.url }] as const;
  const agent = await TestAgent.start({ retryBudgetMs: 0, modelIdleTimeoutMs: 1_000, agent: { model }, ...options });
  return Object.assign(agent, { user: await agent.client("ana") });
}

async function ask(agent: Awaited<ReturnType<typeof start>>, words = "Hello"): Promise<string> {
  return agent.user.answerTo(await agent.user.say(words));
}

/** Returns a function that reads the stored turns. The last one may be stored shortly after its answer was received. */
const turnsOf = (agent: TestAgent) => () => agent.sql`select state, model from turns order by position`;

const expectNoRejection = (agent: TestAgent) => expect([...agent.model.rejections, ...second.rejections]).toEqual([]);

const contentOf = ({ requests }: ModelServer, request = -1) => JSON.stringify(requests.at(request)?.body["messages"]);

test.each<[string, Step]>([
  ["is overloaded (529)", httpError(529)],
  ["fails (500)", httpError(500)],
  ["rejects its key (401)", httpError(401)],
  ["does not exist (404)", httpError(404)],
  ["does not respond", noHeaders()],
  ["is silent after the message has started", reply([text("Never.")], { fault: stallAfter(1) })],
  ["sends only pings", reply([text("Never.")], { fault: pingsOnly(1) })],
  ["closes the connection before its first block", reply([text("Never.")], { fault: destroySocket(1) })],
])("if a model %s, the next one answers the same turn, and the following ones", async (_, step) => {
  await using agent = await start();
  agent.model.script((_request, index) => (index < 2 ? step : reply([text("Not asked.")])));
  second.script([reply([text("Here I am.")]), reply([text("Still here.")])]);

  const answers = [await ask(agent), await ask(agent, "And now?")];

  expect(answers).toEqual(["Here I am.", "Still here."]);
  expect(agent.user.all("error_message")).toEqual([]);
  await expect.poll(turnsOf(agent)).toEqual([
    { state: "completed", model: "claude-other" },
    { state: "completed", model: "claude-other" },
  ]);
  expect(second.requests.map(({ body }) => body["model"])).toEqual(["claude-other", "claude-other"]);
  expectNoRejection(agent);
});

test("a silent model is not called a second time", async () => {
  await using agent = await start();
  agent.model.script([noHeaders()]);
  second.script([reply([text("Here I am.")])]);

  expect(await ask(agent)).toBe("Here I am.");
  expect(agent.model.requests).toHaveLength(1);
});

test("an answer that breaks off after its first sentence is continued by the next model, within the turn", async () => {
  await using agent = await start();
  agent.model.script([reply([text("The sky is blue. And the sun")], { chunking: 28, fault: destroySocket(3) })]);
  second.script([reply([text("is out.")]), reply([text("You are welcome.")])]);

  const answers = [await ask(agent), await ask(agent, "Thanks")];

  expect(answers).toEqual(["The sky is blue. And the sun is out.", "You are welcome."]);
  expect(agent.user.all("error_message")).toEqual([]);
  await expect.poll(turnsOf(agent)).toMatchObject([
    { state: "completed", model: "claude-other" },
    { state: "completed", model: "claude-other" },
  ]);
  expect(contentOf(second, 0)).toContain("Continue exactly where it stopped");
  expectNoRejection(agent);
});

test("a tool use that breaks off does not run, and the next model is told so", async () => {
  let runs = 0;
  const order = defineTool({ description: "Orders.", input: z.object({ item: z.string() }), run: () => ++runs });
  await using agent = await start({ tools: { order } });
  agent.model.script([
    reply([text("At once."), toolUse("order", { item: "tea" }, "toolu_1")], { fault: stallAfter(6) }),
  ]);
  second.script([reply([text("I could not order it.")])]);

  expect(await ask(agent)).toBe("At once. I could not order it.");
  expect(runs).toBe(0);
  expectNoRejection(agent);
});

test("a call whose thinking breaks off is made again by the next model, without that thinking", async () => {
  await using agent = await start();
  agent.model.script([
    reply([thinking("A thought that ends too early."), text("Never.")], { fault: destroySocket(3) }),
  ]);
  second.script([reply([text("Here I am.")])]);

  expect(await ask(agent)).toBe("Here I am.");
  expect(contentOf(second)).toBe(contentOf(agent.model));
  expectNoRejection(agent);
});

test("if every model fails, the turn fails as with a single model, and the next turn calls them again", async () => {
  await using agent = await start();
  agent.model.script([httpError(529), reply([text("Back again.")])]);
  second.script([httpError(500)]);

  expect(await ask(agent)).toBe("Something went wrong. Please try again.");
  expect(agent.user.all("error_message")).toMatchObject([
    { code: 503, message: "The model call failed: server_error (HTTP 500)" },
  ]);
  expect(await ask(agent)).toBe("Back again.");
  await expect.poll(turnsOf(agent)).toMatchObject([{ state: "failed" }, { state: "completed" }]);
});

test("if every model breaks off in the middle, the turn fails with what was shown so far", async () => {
  await using agent = await start();
  const broken = (words: string) => reply([text(words)], { chunking: 40, fault: destroySocket(3) });
  agent.model.script([broken("One moment.")]);
  second.script([broken("I am looking.")]);

  expect(await ask(agent)).toBe("One moment. I am looking. Something went wrong. Please try again.");
  await expect.poll(turnsOf(agent)).toMatchObject([{ state: "failed" }]);
  expectNoRejection(agent);
});

test("a request that the API finds invalid is not sent to the next model", async () => {
  await using agent = await start();
  agent.model.script([httpError(400)]);

  await ask(agent);

  expect(second.requests).toEqual([]);
  await expect.poll(turnsOf(agent)).toMatchObject([{ state: "failed" }]);
});

test("after 30 seconds, the model that failed is called again", async () => {
  await using agent = await start();
  agent.model.script([httpError(529), reply([text("First.")])]);
  second.script([reply([text("Second.")]), reply([text("Second.")])]);
  using clock = skewed();

  const answers = [await ask(agent)];
  clock.skip(29_000);
  answers.push(await ask(agent));
  clock.skip(1_100);
  answers.push(await ask(agent));

  expect(answers).toEqual(["Second.", "Second.", "First."]);
});

test("each model is sent its own thinking only, also within a turn with tools", async () => {
  const look = defineTool({ description: "Looks.", input: z.object({}), readOnly: true, run: () => "a clear sky" });
  await using agent = await start({ tools: { look } });
  agent.model.script([
    reply([thinking("First thought."), toolUse("look", {}, "toolu_1")]),
    httpError(529),
    reply([thinking("Third thought."), text("Yes, still.")]),
    reply([text("You are welcome.")]),
  ]);
  second.script([
    reply([thinking("Second thought."), toolUse("look", {}, "toolu_2")]),
    reply([text("The sky is clear.")]),
  ]);
  using clock = skewed();

  const answers = [await ask(agent, "How is the sky?")];
  clock.skip(31_000);
  answers.push(await ask(agent, "Still?"), await ask(agent, "Thanks"));

  expect(answers).toEqual(["The sky is clear.", "Yes, still.", "You are welcome."]);
  const shown = [contentOf(second), contentOf(agent.model)].map((content) =>
    ["First", "Second", "Third"].filter((each) => content?.includes(`${each} thought.`)),
  );
  expect(shown).toEqual([["Second"], ["First", "Third"]]);
  expect(
    outline(agent)
      .join("\n")
      .match(/tool_result/gu),
  ).toHaveLength(2);
  expectNoRejection(agent);
});

test("spending counts each call for the model that made it", async () => {
  const look = defineTool({ description: "Looks.", input: z.object({}), readOnly: true, run: () => "a clear sky" });
  await using agent = await start({ tools: { look } });
  agent.model.script([reply([toolUse("look", {})]), reply([text("x")], { fault: destroySocket(1) })]);
  second.script([reply([text("The sky is clear.")])]);

  await ask(agent);
  const spent = () => agent.sql`select model, calls from spending where scope = 'session' order by model`;

  await expect.poll(spent).toEqual([
    { model: "claude-other", calls: 1 },
    { model: "claude-test", calls: 2 },
  ]);
});

test("a request to the next model has the same cache marks", async () => {
  await using agent = await start();
  agent.model.script([httpError(529)]);
  second.script([reply([text("Here I am.")])]);

  await ask(agent);

  const [asked, answered] = [agent.model.requests, second.requests].map(([request]) => request?.body);
  expect(JSON.stringify(answered)).toContain("cache_control");
  expect({ ...answered, model: "claude-test", max_tokens: 1_024 }).toEqual(asked);
});

/** Moves `performance.now` forward, by which the rest of a failed model is measured. */
function skewed() {
  const real = performance.now.bind(performance);
  let skewMs = 0;
  performance.now = () => real() + skewMs;
  return {
    skip: (ms: number) => void (skewMs += ms),
    [Symbol.dispose]: () => void (performance.now = real),
  };
}
