import { LLMock } from "@copilotkit/aimock";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { startRequestChecker } from "../../support/request-checker.ts";

const TURNS = 200;
const ROOMS = 4;

test(
  "200 turns against a model that fails in every way all end, and no history is ever refused",
  { timeout: 120_000 },
  async () => {
    const mock = new LLMock({ port: 0 });
    mock.on(
      { predicate: ({ messages }) => messages.at(-1)?.role !== "tool" },
      { toolCalls: [{ name: "note", arguments: '{"text":"a"}' }] },
    );
    mock.on({ hasToolResult: true }, { content: "It is noted. Anything else?" });
    await mock.start();
    mock.setChaos({ dropRate: 0.1, malformedRate: 0.1, rateLimitRate: 0.1, disconnectRate: 0.1 });
    await using checker = await startRequestChecker(mock.url);
    let runs = 0;
    const note = defineTool({ description: "N.", input: z.object({ text: z.string() }), run: () => ++runs });
    const options = { tools: { note }, modelUrl: checker.url, modelIdleTimeoutMs: 2_000, retryBudgetMs: 0 };

    const talk = async () => {
      await using agent = await TestAgent.start(options);
      const user = await agent.client("user");
      const ends: string[] = [];
      for (let turn = 0; turn < TURNS / ROOMS; turn++) {
        ends.push(await user.answerTo(await user.say(`Turn ${turn}`)));
        user.received.length = 0;
      }
      await agent.leave();
      const states = await agent.sql<{ state: string }[]>`select state from turns order by position`;
      const open = await agent.sql`select 1 from tool_calls where state in ('pending', 'running')`;
      const unanswered = await agent.sql`
      select 1 from turn_blocks used where block_type = 'tool_use' and not exists (
        select 1 from turn_blocks where turn_id = used.turn_id and block_type = 'tool_result'
        and content ->> 'tool_use_id' = used.content ->> 'tool_use_id')`;
      return { ends, states: states.map(({ state }) => state), open: open.length, unanswered: unanswered.length };
    };
    const talks = await Promise.all(Array.from({ length: ROOMS }, talk));
    await mock.stop();

    expect(checker.rejections).toEqual([]);
    expect(talks.flatMap(({ ends }) => ends)).toHaveLength(TURNS);
    for (const { states, open, unanswered } of talks) {
      expect(states.every((state) => state === "completed" || state === "failed")).toBe(true);
      expect(new Set(states)).toEqual(new Set(["completed", "failed"]));
      expect([open, unanswered]).toEqual([0, 0]);
    }
  },
);
