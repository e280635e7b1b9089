import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { outline } from "../../support/model-view.ts";
import { billed } from "./billed.ts";

const LOW = "We are close to the end of our budget for this talk.";
const SPENT = "I have to stop here: the budget for this talk is used up.";
const look = defineTool({ description: "L.", input: z.object({}), readOnly: true, run: () => "nothing" });

const step = (text: string, tool?: string) =>
  billed(text, { input: 300, output: 50, cacheRead: 100, ...(tool !== undefined && { tool }) });

async function endsOfTurns(agent: TestAgent): Promise<readonly unknown[]> {
  const rows = await agent.sql<{ state: string; stop_reason: string }[]>`
    select state, stop_reason from turns order by created_at
  `;
  return rows.map(({ state, stop_reason: reason }) => `${state} ${reason}`);
}

test("a session's budget causes one warning at 80 %, and at 100 % the model is no longer called", async () => {
  await using agent = await TestAgent.start({ policy: { budget: { session: { tokens: 1_000 } } } });
  const user = await agent.client("user");
  agent.model.script([step("One."), step("Two."), step("Three.")]);
  const answers: string[] = [];
  for (const text of ["First", "Second", "Third", "Fourth", "Fifth"])
    answers.push(await user.answerTo(await user.say(text)));

  expect(answers).toEqual(["One.", `Two. ${LOW}`, "Three.", SPENT, SPENT]);
  expect(agent.model.requests).toHaveLength(3);
  await expect
    .poll(async () => (await endsOfTurns(agent)).slice(2))
    .toEqual(["completed end_turn", "completed budget", "completed budget"]);
});

test("a participant that was away for a warning is warned after its next answer", async () => {
  const isAway = Promise.withResolvers<string>();
  const runs = Promise.withResolvers<void>();
  const run = () => {
    runs.resolve();
    return isAway.promise;
  };
  const wait = defineTool({ description: "W.", input: z.object({}), readOnly: true, run });
  await using agent = await TestAgent.start({
    policy: { budget: { session: { tokens: 1_250 } } },
    tools: { wait },
  });
  const user = await agent.client("user");
  agent.model.script([
    step("", "wait"),
    billed("One.", { input: 550, output: 50 }),
    billed("Two.", { input: 0, output: 5 }),
  ]);
  await user.say("First");
  await runs.promise;
  await user.leave();
  await expect.poll(() => agent.room.remoteParticipants.has("user"), { timeout: 5_000 }).toBe(false);
  isAway.resolve("gone");
  await expect.poll(() => endsOfTurns(agent)).toEqual(["completed end_turn"]);

  const again = await agent.client("user");

  expect(await again.answerTo(await again.say("Second"))).toBe(`Two. ${LOW}`);
});

test("within a turn the budget is exceeded by one step at most, and the session can continue when the budget is raised", async () => {
  const policy = { budget: { session: { tokens: 1_000 } } };
  await using agent = await TestAgent.start({ policy, tools: { look } });
  const user = await agent.client("user");
  agent.model.script([step("", "look"), step("", "look"), step("", "look"), step("Done.")]);

  expect(await user.answerTo(await user.say("Go"))).toBe(SPENT);
  expect(agent.model.requests).toHaveLength(3);
  await expect.poll(() => endsOfTurns(agent)).toEqual(["completed budget"]);
  await agent.sql`update spending set input_tokens = 0`;
  expect(await user.answerTo(await user.say("Go on"))).toBe(`Done. ${LOW}`);
  expect(outline(agent).at(-1)).toBe("user: tool_result, Go on");
  expect(agent.model.rejections).toEqual([]);
});

test("a person's daily budget applies in all rooms and on all workers, and to nobody else", async () => {
  const policy = { budget: { identityPerDay: { tokens: 400 } } };
  await using kitchen = await TestAgent.start({ policy });
  await using garden = await TestAgent.start({ policy, databaseUrl: kitchen.databaseUrl });
  const [ann, annElsewhere, bob] = [
    await kitchen.client("ann"),
    await garden.client("ann"),
    await garden.client("bob"),
  ];
  kitchen.model.script([step("Hello.")]);
  garden.model.script([step("Hello, Bob.")]);

  expect(await ann.answerTo(await ann.say("Hi"))).toBe("Hello.");
  expect(await annElsewhere.answerTo(await annElsewhere.say("Hi"))).toBe(SPENT);
  expect(await bob.answerTo(await bob.say("Hi"))).toBe("Hello, Bob.");
});

test("yesterday's spending does not count against today's budget", async () => {
  await using agent = await TestAgent.start({ policy: { budget: { workerPerDay: { tokens: 400 } } } });
  const user = await agent.client("user");
  agent.model.script([step("One."), step("Two.")]);
  await user.answerTo(await user.say("First"));
  await agent.sql`update spending set day = day - 1`;

  expect(await user.answerTo(await user.say("Second"))).toBe("Two.");
  expect(await user.answerTo(await user.say("Third"))).toBe(SPENT);
});

test("a budget in money is computed from the prices of the model's tokens", async () => {
  const prices = { "claude-test": { input: 1_000, output: 2_000, cacheRead: 100, cacheWrite: 3_000 } };
  await using agent = await TestAgent.start({ policy: { budget: { session: { money: 1 } }, prices } });
  const user = await agent.client("user");
  agent.model.script([billed("One.", { input: 300, output: 100, cacheRead: 1_000, cacheWrite: 50 }), step("Two.")]);
  await user.answerTo(await user.say("First"));
  const [row] = await agent.sql<
    { money: string }[]
  >`select money::float8 as money from spending where scope = 'session'`;

  // Tokens times their prices: 300 × 1000, 100 × 2000, 1000 × 100 and 50 × 3000 millionths.
  expect(row?.money).toBe(0.75);
  expect(await user.answerTo(await user.say("Second"))).toBe("Two.");
  expect(await user.answerTo(await user.say("Third"))).toBe(SPENT);
});

test("a spent budget stays spent with the next worker", async () => {
  await using agent = await TestAgent.start({ policy: { budget: { session: { tokens: 400 } } } });
  const user = await agent.client("user");
  agent.model.script([step("One.")]);
  await user.answerTo(await user.say("First"));
  await agent.leave();
  await agent.join();

  expect(await user.answerTo(await user.say("Second"))).toBe(SPENT);
});
