import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { destroySocket, stallAfter } from "../../../src/model-server/step.ts";
import { billed } from "./billed.ts";

interface Sum {
  readonly calls: number;
  readonly input: number;
  readonly output: number;
}

async function sums(agent: TestAgent, scope = "session"): Promise<readonly Sum[]> {
  return agent.sql<Sum[]>`
    select calls, input_tokens::int as input, output_tokens::int as output from spending where scope = ${scope}
  `;
}

test("each call counts for the session, the participant and the worker's host", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([billed("One.", { input: 10, output: 5 }), billed("Two.", { input: 20, output: 7 })]);
  await user.answerTo(await user.say("First"));
  await user.answerTo(await user.say("Second"));
  await agent.leave();

  for (const scope of ["session", "identity", "worker"])
    expect(await sums(agent, scope)).toEqual([{ calls: 2, input: 30, output: 12 }]);
});

test("a request is counted when its answer starts, so it counts even if the worker is killed", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([billed("", { input: 10, output: 5 }, { fault: stallAfter(2) })]);
  await user.say("Go");

  await expect.poll(() => sums(agent), { timeout: 10_000 }).toEqual([{ calls: 1, input: 10, output: 1 }]);
});

test("a failed call and its retry both count, once the API had started to answer", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([
    billed("Lost.", { input: 10, output: 5 }, { fault: destroySocket(1) }),
    billed("Here.", { input: 10, output: 5 }),
  ]);
  expect(await user.answerTo(await user.say("Go"))).toBe("Here.");
  await agent.leave();

  expect(await sums(agent)).toEqual([{ calls: 2, input: 20, output: 6 }]);
});

test("the streamed part of an answer that was stopped counts by its length", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([billed("Yes. No. ".repeat(40), { input: 10, output: 999 }, { fault: stallAfter(3) })]);
  await user.say("Go");
  await user.next("assistant_sentence");
  await agent.leave();

  expect(await sums(agent)).toEqual([{ calls: 1, input: 10, output: 90 }]);
});
