import { ProxyTracerProvider } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { z } from "zod";
import { createTelemetry } from "../../src/telemetry/telemetry.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { httpError, reply, text, toolUse } from "../../src/model-server/step.ts";
import { TelemetryAgent } from "./telemetry-agent.ts";

const look = defineTool({ description: "Looks.", input: z.object({}), run: () => ({ seen: 3 }) });

/**
 * Plays two turns, and a third that fails. Returns what the participant received, what was recorded, and how long all
 * of it took.
 */
async function talkWith(agent: TestAgent) {
  const user = await agent.client("user");
  agent.model.script([
    reply([text("One."), toolUse("look")]),
    reply([text("Done.")]),
    reply([text("Two.")]),
    httpError(400),
  ]);
  const startedAt = performance.now();
  const answers: string[] = [];
  for (const question of ["a", "b", "c"]) answers.push(await user.answerTo(await user.say(question)));
  const ms = performance.now() - startedAt;
  // A participant may receive the last words before the turn's end is stored, or even before the turn's row is
  // inserted.
  await expect.poll(() => agent.sql`select from turns where state <> 'running'`).toHaveLength(3);
  const turns = await agent.sql`select state, stop_reason, usage from turns order by position`;
  const blocks = (await agent.blocks()).map(({ block_type: type, text_content: said }) => ({ type, said }));
  const calls = (await agent.calls()).map(({ state, result }) => ({ state, result }));
  const types = user.received.map(({ message }) => message.type);
  return {
    ms,
    // Acks are left out, because their order among other messages varies: a user message is acknowledged when it is
    // stored.
    outcome: { answers, turns: [...turns], blocks, calls, types: types.filter((type) => type !== "acknowledgement") },
  };
}

async function talkUnwatched() {
  const telemetry = createTelemetry({}, { tracerProvider: new ProxyTracerProvider() });
  await using agent = await TestAgent.start({ tools: { look }, telemetry });
  return await talkWith(agent);
}

test.each(["hang", "refuse", "down"] as const)(
  "a faulty endpoint (%s) changes nothing in a session and delays its end by 2 s at most",
  async (fault) => {
    const unwatched = await talkUnwatched();
    await using talk = await TelemetryAgent.start({ tools: { look } });
    const { agent, receiver } = talk;
    if (fault === "down") await receiver[Symbol.asyncDispose]();
    else receiver.behavior = fault;

    const watched = await talkWith(agent);
    await agent.leave();
    const closingAt = performance.now();
    await talk.end();

    expect(watched.outcome).toEqual(unwatched.outcome);
    expect(watched.outcome.answers.slice(0, 2)).toEqual(["One. Done.", "Two."]);
    expect(watched.ms).toBeLessThan(unwatched.ms + 2_000);
    expect(performance.now() - closingAt).toBeLessThan(2_000);
    expect(receiver.spans).toEqual([]);
  },
);
