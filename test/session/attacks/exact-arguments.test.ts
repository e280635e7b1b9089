import fc from "fast-check";
import { expect, test } from "vitest";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { malformedToolJson, reply, text } from "../../../src/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";
import { announced } from "../../support/client-tool.ts";
import type { Participant } from "../../support/participant.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";
import { rawJson, sameText } from "../../support/raw-json.ts";

/** An agent with a tool that the server runs and one that the user's device runs; both return their input. */
async function startAgent() {
  const ran: unknown[] = [];
  const own = defineTool({ description: "O.", input: { type: "object" }, run: (input) => (ran.push(input), input) });
  const agent = await TestAgent.start({ tools: { own } });
  const user = await agent.client("user", { tools: [announced("device")] });
  return { agent, user, ran };
}

/** Runs one turn, in which the model calls both tools with this text as their arguments. */
async function callBoth({ agent, user }: { agent: TestAgent; user: Participant }, json: string): Promise<void> {
  const uses = ["own", "device"].map((name) => malformedToolJson(name, json));
  agent.model.script([reply(uses, { chunking: 60_000 }), reply([text("Done.")])]);
  const before = user.all("tool_use_result").length;
  const requestsBefore = user.all("tool_use_request").length;
  const messageId = await user.say("Go");
  const asked = () => user.all("tool_use_request").filter(({ execution }) => execution === "client");
  const isOver = () => user.all("tool_use_result").length === before + 2;
  const answered = asked().length;
  await user.until(() => isOver() || asked().length > answered, "the calls");
  const request = asked()[answered];
  if (request) await user.answer(request.id, { success: true, result: request.parameters });
  expect(await user.answerTo(messageId)).toBe("Done.");
  // A large request is sent as a stream, and may arrive after the answer.
  await user.until(() => user.all("tool_use_request").length === requestsBefore + 2, "the requests");
  // The device is not sent its own result.
  const results = before + (request ? 1 : 2);
  await user.until(() => user.all("tool_use_result").length === results, "the results");
}

/** The newest turn's two calls with their arguments and results: as stored, and in the model's next request. */
async function lastCalls({ agent }: { agent: TestAgent }) {
  const stored = await agent.sql<{ name: string; input: unknown; result: unknown; error_code: string | null }[]>`
    select name, input, result, error_code from tool_calls
    where turn_id = (select id from turns order by position desc limit 1) order by name desc`;
  const blocks = await agent.sql<{ input: unknown }[]>`
    select content -> 'input' as input from turn_blocks
    where block_type = 'tool_use' and turn_id = (select id from turns order by position desc limit 1)
    order by sequence`;
  const messages = agent.model.requests.at(-1)?.body["messages"] as { content: Record<string, unknown>[] }[];
  const shown = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return {
    stored,
    blocks: blocks.map(({ input }) => input),
    uses: shown.filter(({ type }) => type === "tool_use").slice(-2),
    results: shown.filter(({ type }) => type === "tool_result").slice(-2),
  };
}

const PLACE = /Invalid parameters: input.*: (deeper|over|a key|too large|U\+0000|the key appears twice)/u;
const REFUSED = {
  codes: ["invalid_parameters", "invalid_parameters"],
  executions: ["server", "server"],
  isNamed: true,
  isSame: true,
};

test("a tool runs with exactly what the model wrote, or not at all", { timeout: 120_000 }, async () => {
  const world = await startAgent();
  await using _agent = world.agent;
  const { user, ran } = world;
  const outcomes = new Set<string>();
  const property = fc.asyncProperty(rawJson, async (json) => {
    const [ranBefore, receivedBefore] = [ran.length, user.received.length];
    await callBoth(world, json);
    const received = user.received.slice(receivedBefore).map(({ message }) => message);
    const requests = received.flatMap(({ type, body }) => (type === "tool_use_request" ? body : []));
    const results = received.flatMap(({ type, body }) => (type === "tool_use_result" ? body : []));
    const { stored, blocks, uses, results: shownResults } = await lastCalls(world);
    const isRun = ran.length > ranBefore;
    outcomes.add(isRun ? "run" : "refused");

    const everywhere = [
      ...ran.slice(ranBefore),
      ...requests.map(({ parameters }) => parameters),
      ...results.map(({ result }) => result),
      ...stored.flatMap(({ input, result }) => [input, result]),
      ...blocks,
      ...uses.map(({ input }) => input),
    ];
    const whatHappened = isRun
      ? { texts: [...new Set(everywhere.map(sameText))], count: everywhere.length }
      : {
          codes: stored.map((call) => call.error_code),
          executions: requests.map(({ execution }) => execution),
          isNamed: PLACE.test(JSON.stringify(shownResults)),
          isSame: sameText(blocks) === sameText(uses.map(({ input }) => input)),
        };
    expect(whatHappened).toEqual(isRun ? { texts: [sameText(JSON.parse(json))], count: 12 } : REFUSED);
  });
  await fc.assert(property, { seed: propertySeed(20_261_126), numRuns: propertyRuns(60) });

  expect(outcomes).toEqual(new Set(["run", "refused"]));
});

test.each([28, 29, 3_500, 4_500])("arguments with %i levels do not end the session", async (depth) => {
  const world = await startAgent();
  await using _agent = world.agent;
  const { agent, user, ran } = world;
  const json = `{"expression":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  await callBoth(world, json);
  agent.model.script([reply([text("Still here.")])]);

  expect(await user.answerTo(await user.say("Hi"))).toBe("Still here.");
  expect(ran).toHaveLength(depth > 28 ? 0 : 1);
  const place = `input.expression${"[0]".repeat(27)}: deeper than 28 levels`;
  const refused = (await agent.calls()).map(({ error_code, error_message }) => [error_code, error_message]);
  const expected = depth > 28 ? ["invalid_parameters", `Invalid parameters: ${place}`] : [null, null];
  expect(refused).toEqual([expected, expected]);
});
