import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { messagesTo } from "../../support/model-view.ts";

const wait = (resultOf: { value?: unknown; afterMs?: number; error?: string }) =>
  defineTool({
    description: "Waits.",
    input: z.object({}),
    run: async () => {
      await new Promise((resolve) => setTimeout(resolve, resultOf.afterMs ?? 0));
      if (resultOf.error !== undefined) throw new Error(resultOf.error);
      return resultOf.value;
    },
  });

/** The tool_result blocks in the model's last request. */
function lastResults(agent: TestAgent): Record<string, unknown>[] {
  return (messagesTo(agent).at(-1)?.content ?? []).map((sent) => {
    const block: Record<string, unknown> = { ...sent };
    delete block["cache_control"];
    return block;
  });
}

async function answerWith(agent: TestAgent, use: ReturnType<typeof toolUse>): Promise<Record<string, unknown>[]> {
  const user = await agent.client("user");
  agent.model.script([reply([use]), reply([text("Done.")])]);
  expect(await user.answerTo(await user.say("Go"))).toBe("Done.");
  expect(agent.model.rejections).toEqual([]);
  return lastResults(agent);
}

test("several tools in one response run at the same time and are answered in one message, in call order", async () => {
  const fastIsDone = Promise.withResolvers<string>();
  const define = (run: () => string | Promise<string>) =>
    defineTool({ description: "Waits.", input: z.object({}), run });
  const slow = define(() => fastIsDone.promise);
  const fast = define(() => {
    fastIsDone.resolve("slow");
    return "fast";
  });
  await using agent = await TestAgent.start({ tools: { slow, fast } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("slow", {}, "toolu_a"), toolUse("fast", {}, "toolu_b")]), reply([text("Both.")])]);

  await user.answerTo(await user.say("Go"));

  expect(agent.model.requests).toHaveLength(2);
  expect(lastResults(agent)).toEqual([
    { type: "tool_result", tool_use_id: "toolu_a", content: "slow" },
    { type: "tool_result", tool_use_id: "toolu_b", content: "fast" },
  ]);
});

test("an unknown tool is an error result", async () => {
  await using agent = await TestAgent.start();
  expect(await answerWith(agent, toolUse("nope"))).toMatchObject([
    { is_error: true, content: "Tool 'nope' not found" },
  ]);
});

test("the error for bad input contains the failing field, and the tool does not run", async () => {
  const typed = defineTool({ description: "T.", input: z.object({ count: z.number() }), run: () => "ran" });
  await using agent = await TestAgent.start({ tools: { typed } });
  const [result] = await answerWith(agent, toolUse("typed", { count: "many" }));
  expect(result).toMatchObject({ is_error: true });
  expect(result?.["content"]).toMatch(/^Invalid parameter "count": /);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "invalid_parameters" }]);
});

test("a tool that throws is an error result with its message", async () => {
  await using agent = await TestAgent.start({ tools: { broken: wait({ error: "The shop is closed" }) } });
  expect(await answerWith(agent, toolUse("broken"))).toMatchObject([{ is_error: true, content: "The shop is closed" }]);
});

test("a slow tool is aborted at its deadline and answered with the text in spec/003", async () => {
  let aborted: unknown;
  const slow = defineTool({
    description: "S.",
    input: z.object({}),
    timeoutMs: 100,
    run: (_input, { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => (aborted = signal.reason), { once: true })),
  });
  await using agent = await TestAgent.start({ tools: { slow } });
  expect(await answerWith(agent, toolUse("slow"))).toMatchObject([
    { is_error: true, content: "Tool execution timed out after 0.1s" },
  ]);
  expect(aborted).toBeInstanceOf(Error);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "timeout" }]);
});

test("a long result is truncated for the model with a visible mark", async () => {
  const policy = { toolResultMaxBytes: 1_000 };
  await using agent = await TestAgent.start({ tools: { long: wait({ value: "x".repeat(5_000) }) }, policy });
  const [result] = await answerWith(agent, toolUse("long"));
  expect(result?.["content"]).toBe(`${"x".repeat(1_000)}\n[truncated: 5000 bytes, the first 1000 are shown]`);
});

test("a result that PostgreSQL cannot store is stored and sent with a visible replacement", async () => {
  await using agent = await TestAgent.start({ tools: { odd: wait({ value: { text: "a\u0000b\ud800c" } }) } });
  const [result] = await answerWith(agent, toolUse("odd"));
  expect(result?.["content"]).toBe('{"text":"a\ufffdb\ufffdc"}');
});

test("the tool_use block is stored before its tool runs", async () => {
  let stored: unknown;
  const look = defineTool({
    description: "L.",
    input: z.object({}),
    run: async () => {
      const rows = await agentUnderTest.sql`select block_type from turn_blocks`;
      const calls = await agentUnderTest.sql`select state from tool_calls`;
      stored = { rows: [...rows], calls: calls.length };
      return "ok";
    },
  });
  await using agentUnderTest = await TestAgent.start({ tools: { look } });
  await answerWith(agentUnderTest, toolUse("look"));
  expect(stored).toEqual({ rows: [{ block_type: "tool_use" }], calls: 1 });
});

test("the step limit leads to one last call without tools", async () => {
  await using agent = await TestAgent.start({ tools: { again: wait({ value: "more" }) }, policy: { maxSteps: 2 } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("again")]), reply([toolUse("again")]), reply([text("Enough.")])]);
  expect(await user.answerTo(await user.say("Go"))).toBe("Enough.");
  expect(agent.model.requests.map(({ body }) => (body["tool_choice"] as { type: string }).type)).toEqual([
    "auto",
    "auto",
    "none",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("a tool that blocks the process, ignores its signal or never settles affects only its own call", async () => {
  const never = () => new Promise(() => {});
  const tools = {
    stuck: defineTool({ description: "S.", input: z.object({}), timeoutMs: 100, run: never }),
    thrower: defineTool({
      description: "T.",
      input: z.object({}),
      run: () => {
        throw new Error("Thrown at once");
      },
    }),
    blocker: defineTool({
      description: "B.",
      input: z.object({}),
      run: () => {
        const until = performance.now() + 300;
        while (performance.now() < until);
        return "blocked";
      },
    }),
    large: defineTool({ description: "L.", input: z.object({}), run: () => "x".repeat(10_000_000) }),
    huge: defineTool({ description: "H.", input: z.object({}), run: () => "x".repeat(20_000_000) }),
  };
  await using agent = await TestAgent.start({ tools });
  const user = await agent.client("user");
  const names = ["stuck", "thrower", "blocker", "large", "huge"];
  agent.model.script([reply(names.map((name) => toolUse(name))), reply([text("Done.")]), reply([text("Next.")])]);

  expect(await user.answerTo(await user.say("Go"))).toBe("Done.");

  const contents = lastResults(agent).map((block) => String(block["content"]));
  expect(contents.slice(0, 3)).toEqual(["Tool execution timed out after 0.1s", "Thrown at once", "blocked"]);
  expect(contents[3]).toMatch(/^x{100000}\n\[truncated: 10000000 bytes, /);
  expect(contents[4]).toMatch(/its result cannot be used: result: over 10485760 characters/);
  expect(await user.answerTo(await user.say("Again"))).toBe("Next.");
});
