import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { announced } from "../../support/client-tool.ts";
import type { RecordedRequest } from "../../../src/model-server/model-server.ts";
import { httpError, reply, type Step, text, toolUse } from "../../../src/model-server/step.ts";
import { toolResults } from "../../support/model-view.ts";
import type { Participant } from "../../support/participant.ts";

const WORDS = "It has been a long day, and there is much to tell of it. ".repeat(4);
const look = defineTool({ description: "L.", input: z.object({}), readOnly: true, run: () => "clear sky" });
const context = { budgetTokens: 30_000, hardTokens: 120_000, instructionBytes: 0, inlineTools: true };

function startAgent(more: Partial<typeof context> = {}): Promise<TestAgent> {
  return TestAgent.start({ tools: { look }, policy: { context: { ...context, ...more } } });
}

/** Scripts the model to use a tool when a message requests that tool by name, and otherwise to reply with text. */
function follow(agent: TestAgent): void {
  agent.model.script(({ body }) => {
    const last = (body["messages"] as { role: string; content: { text?: string }[] }[]).findLast(
      ({ role }) => role === "user",
    );
    const name = /^Use (\w+)/.exec(last?.content.at(-1)?.text ?? "")?.[1];
    return reply([name === undefined ? text(`Well. ${WORDS}`) : toolUse(name)]);
  });
}

const ask = async (user: Participant, words: string) => user.answerTo(await user.say(words));

async function talk(user: Participant, turns: number): Promise<void> {
  for (let count = 0; count < turns; count++) await ask(user, `And then? ${WORDS}`);
}

const tokensOf = ({ usage = {} }: RecordedRequest) =>
  ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].reduce(
    (sum, key) => sum + Number(usage[key]),
    0,
  );

/** The share of each request's tokens that the next request read from the cache. */
function sharesRead(requests: readonly RecordedRequest[]): number[] {
  return requests.slice(1).map((request, index) => {
    const before = requests[index] as RecordedRequest;
    return Number(request.usage?.["cache_read_input_tokens"]) / tokensOf(before);
  });
}

/** The tool changes in a request, as `+scan`, `+scan again` (without its definition) and `-scan`. */
function toolChangesOf({ body }: RecordedRequest): string[] {
  const messages = body["messages"] as { role: string; content: AnnouncementBlock[] }[];
  return messages
    .filter(({ role }) => role === "system")
    .flatMap(({ content }) =>
      content.map(({ type, tool: { name = "", definition } }) => {
        if (type === "tool_removal") return `-${name}`;
        return definition ? `+${definition.name}` : `+${name} again`;
      }),
    );
}

interface AnnouncementBlock {
  readonly type: string;
  readonly tool: { readonly name?: string; readonly definition?: { readonly name: string } };
}

test("the prompt cache stays valid when a client's tool comes, goes and comes back", async () => {
  await using agent = await startAgent();
  follow(agent);
  const user = await agent.client("user", { tools: [announced("print")] });
  await talk(user, 5);
  await user.configure({ tools: [announced("print"), announced("scan")] });
  await talk(user, 2);
  await user.configure({ tools: [announced("print")] });
  await talk(user, 2);
  await user.configure({ tools: [announced("print"), announced("scan")] });
  await talk(user, 2);

  const shares = sharesRead(agent.model.requests.slice(1));
  expect(Math.min(...shares)).toBeGreaterThan(0.95);
  expect(toolChangesOf(agent.model.requests.at(-1) as RecordedRequest)).toEqual([
    "+print",
    "+scan",
    "-scan",
    "+scan again",
  ]);
  const tools = agent.model.requests.map(({ body }) => (body["tools"] as { name: string }[]).map(({ name }) => name));
  expect(new Set(tools.flat())).toEqual(new Set(["look"]));
  expect(agent.model.rejections).toEqual([]);
});

test("the prompt cache stays valid when an MCP server's tool comes, goes and comes back", async () => {
  let isDisconnected = false;
  const book = { ...toServerTool("shop_book", look, undefined), isDisconnected: () => isDisconnected };
  const liveTools = new Map([["look", toServerTool("look", look, undefined)]]);
  await using agent = await TestAgent.start({ liveTools, policy: { context } });
  follow(agent);
  const user = await agent.client("user");
  await talk(user, 5);
  liveTools.set(book.name, book);
  await talk(user, 2);
  isDisconnected = true;
  await talk(user, 2);
  isDisconnected = false;
  await talk(user, 1);
  await ask(user, "Use shop_book");

  expect(Math.min(...sharesRead(agent.model.requests.slice(1)))).toBeGreaterThan(0.95);
  const last = agent.model.requests.at(-1) as RecordedRequest;
  expect(toolChangesOf(last)).toEqual(["+shop_book", "-shop_book", "+shop_book again"]);
  expect((last.body["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(["look"]);
  expect(toolResults(agent)).toEqual([{ content: "clear sky", isError: false }]);
  expect(agent.model.rejections).toEqual([]);
});

test("a worker's tool that only clients run is declared in the conversation, too", async () => {
  const scan = defineTool({ description: "S.", input: z.object({}), execution: "client" });
  await using agent = await TestAgent.start({ tools: { look, scan }, policy: { context } });
  follow(agent);
  const user = await agent.client("user", { tools: [] });
  await talk(user, 5);
  await user.configure({ tools: [announced("scan")] });
  await talk(user, 2);

  expect(Math.min(...sharesRead(agent.model.requests.slice(1)))).toBeGreaterThan(0.95);
  expect(toolChangesOf(agent.model.requests.at(-1) as RecordedRequest)).toEqual(["+scan"]);
});

test("tools with long descriptions do not displace the conversation", async () => {
  await using agent = await startAgent({ budgetTokens: 2_000, hardTokens: 40_000 });
  follow(agent);
  const tools = Array.from({ length: 10 }, (_, index) =>
    announced(`tool_${index}`, { description: "D. ".repeat(600) }),
  );
  const user = await agent.client("user", { tools });

  await talk(user, 10);

  expect(tokensOf(agent.model.requests[0] as RecordedRequest)).toBeGreaterThan(2_000);
  expect(JSON.stringify(agent.model.requests.at(-1)?.body["messages"])).not.toContain("no longer shown");
  expect(Math.min(...sharesRead(agent.model.requests))).toBeGreaterThan(0.95);
});

test("a tool declared in the conversation is called, and one that was removed is not", async () => {
  await using agent = await startAgent();
  agent.model.script([
    reply([toolUse("scan")]),
    reply([text("Done.")]),
    reply([toolUse("scan")]),
    reply([text("Hm.")]),
  ]);
  const user = await agent.client("user", { tools: [announced("scan")] });
  const first = await user.say("Scan");
  const request = await user.next("tool_use_request");
  await user.answer(request.id, { success: true, result: { pages: 2 } });
  await user.answerTo(first);
  expect(toolResults(agent)).toEqual([{ content: '{"pages":2}', isError: false }]);

  await user.configure({ tools: [] });
  await ask(user, "Scan again");

  expect(toolResults(agent)).toEqual([{ content: "Tool 'scan' not found", isError: true }]);
  expect(agent.model.rejections).toEqual([]);
});

test("participants with their own tools take turns without a cache miss", async () => {
  await using agent = await startAgent();
  follow(agent);
  const phone = await agent.client("phone", { tools: [announced("scan")] });
  const laptop = await agent.client("laptop", { tools: [announced("print")] });
  for (const each of [phone, laptop, phone, laptop, phone, laptop]) await talk(each, 2);

  const shares = sharesRead(agent.model.requests.slice(2));
  expect(Math.min(...shares)).toBeGreaterThan(0.95);
  expect(toolChangesOf(agent.model.requests.at(-1) as RecordedRequest).slice(0, 6)).toEqual([
    "+scan",
    "-scan",
    "+print",
    "-print",
    "+scan again",
    "-scan",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("another worker continues with the same request, and declares nothing twice", async () => {
  await using agent = await startAgent();
  follow(agent);
  const user = await agent.client("user", { tools: [announced("scan", { description: "Ä scan." })] });
  await talk(user, 4);
  await agent.leave();
  await agent.join();
  await user.until(() => agent.room.remoteParticipants.size > 0, "the agent sees the client");
  await user.configure({ tools: [announced("scan", { description: "Ä scan." })] });

  await talk(user, 1);

  const [before, after] = agent.model.requests.slice(-2) as [RecordedRequest, RecordedRequest];
  expect(Number(after.usage?.["cache_read_input_tokens"]) / tokensOf(before)).toBeGreaterThan(0.95);
  expect(toolChangesOf(after)).toEqual(["+scan"]);
});

test("tools are declared again when the turns that declared them are left out", async () => {
  await using agent = await startAgent({ budgetTokens: 2_000, hardTokens: 8_000 });
  follow(agent);
  const user = await agent.client("user", { tools: [announced("scan")] });

  await talk(user, 40);

  const last = agent.model.requests.at(-1) as RecordedRequest;
  expect(JSON.stringify(last.body["messages"])).toContain("of this conversation are no longer shown");
  expect(toolChangesOf(last)).toEqual(["+scan"]);
  expect(Math.max(...agent.model.requests.map(tokensOf))).toBeLessThan(8_000);
  expect(agent.model.rejections).toEqual([]);
});

test("a tool that the API refuses is no longer declared, and the turn continues without it", async () => {
  await using agent = await startAgent();
  agent.model.script((request) => {
    const index = toolChangesOf(request).indexOf("+odd");
    if (index < 0) return reply([text("Hello.")]);
    const place = `messages.1.content.${index}.tool_addition.tool.tool_definition.definition.custom`;
    return { ...httpError(400), message: `${place}.input_schema.properties: not like this` } as Step;
  });
  const user = await agent.client("user", { tools: [announced("odd"), announced("scan")] });

  expect(await ask(user, "Hi")).toBe("Hello.");
  expect(await ask(user, "Again")).toBe("Hello.");

  expect(agent.model.requests.map(toolChangesOf)).toEqual([["+odd", "+scan"], ["+scan"], ["+scan"]]);
  expect(user.all("error_message").map(({ message }) => message)).toEqual([
    `Tool "odd": the model API rejected its input_schema.properties`,
  ]);
});
