import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { runInThisContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/define-agent.ts";
import { agentSchema } from "../../src/agent/agent-fields.ts";
import { scripted } from "../../src/testing/model/scripted.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { TestAgent } from "../support/agent.ts";
import { messagesTo } from "../support/model-view.ts";

const page = await readFile("docs/agents.md", "utf8");
const blocks = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, block = ""]) => block);
/** A folder inside the repository, so that imports of the package `parley` resolve. */
const folder = resolve(".cache", `docs-agents-${process.pid}`);

const config = () => join(folder, "parley.config.ts");

beforeAll(async () => {
  await mkdir(join(folder, "agents"), { recursive: true });
  for (const block of blocks) {
    const [, path] = /^\/\/ (agents\/[\w-]+\.ts)\nimport/.exec(block) ?? [];
    // Divides the lengths of silences by ten, because whole seconds would take too long in a test.
    if (path !== undefined) await writeFile(join(folder, path), block.replaceAll("_000,", "00,"));
  }
  const tools = join(folder, "tools");
  await mkdir(tools);
  const fields = '{ description: "Finds an invoice.", input: { type: "object" }, run: () => ({}) }';
  const invoice = `import { defineTool } from "parley";\nexport default defineTool(${fields});`;
  await writeFile(join(tools, "invoice-find.ts"), invoice);
  await writeFile(join(tools, "get-time.ts"), `export { default } from "${resolve("tools/time/get-time.ts")}";`);
  const values = { instructions: "You help.", toolsFolder: tools };
  await writeFile(config(), `export default ${JSON.stringify(values)};`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the page's agent answers, with its own instructions and tools", async () => {
  const seen: Record<string, unknown>[] = [];
  const model = scripted(({ body }) => {
    seen.push(body);
    return "It is paid.";
  });
  await using talk = await startTalk({ config: config(), agent: "billing", model });

  expect((await talk.say("My invoice?")).text).toBe("It is paid.");

  expect(JSON.stringify(seen[0]?.["system"])).toMatch(
    /You answer questions about invoices\. You talk with .* \(customer unknown\)/,
  );
  expect(seen[0]?.["tools"]).toMatchObject([{ name: "get_time" }, { name: "invoice_find" }]);
});

test("the page's front desk greets, and speaks during silences, until it says goodbye", async () => {
  await using talk = await startTalk({ config: config(), agent: "front-desk", model: scripted([]) });

  const said = [await talk.nextTurn(), await talk.nextTurn(), await talk.nextTurn(), await talk.nextTurn()];

  expect(said.map(({ text }) => text)).toEqual([
    "Hello, this is the front desk. How can I help?",
    "Are you still there?",
    "I will hang up in a moment.",
    "Goodbye.",
  ]);
});

test("the page's front desk has its tools, and hands off an invoice to the page's billing agent", async () => {
  const seen: Record<string, unknown>[] = [];
  const model = scripted(({ body }) => {
    seen.push(body);
    return seen.length === 1 ? { use: { hand_off: { to: "billing", summary: "An invoice." } } } : "It is paid.";
  });
  await using talk = await startTalk({ config: config(), agent: "front-desk", model });

  expect((await talk.say("My invoice?")).text).toBe("It is paid.");

  const tools = seen[0]?.["tools"] as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["end_call", "transfer_call", "press_keys", "skip_turn", "set_language", "hand_off"]),
  );
  expect(JSON.stringify(seen[1]?.["system"])).toContain("You answer questions about invoices.");
});

test("in a group, the page's minute taker answers those who address it by name", async () => {
  const { default: definition } = (await import(join(folder, "agents/minutes.ts"))) as { default: AgentDefinition };
  await using agent = await TestAgent.start({ agent: definition });
  const [ana, bob] = [await agent.client("ana"), await agent.client("bob")];
  agent.model.script([reply([text("At ten.")])]);

  expect(await ana.answerTo(await ana.say("Shall we begin?"))).toBe("");
  expect(await bob.answerTo(await bob.say("Iris, when is lunch?"))).toBe("At ten.");

  expect(JSON.stringify(messagesTo(agent))).toContain("Shall we begin?");
});

/** Fields of an agent that the page shows on their own. */
const fragments = blocks.flatMap((block) => block.split(/^(?=\w+: )/m).filter((part) => part.startsWith("greeting: ")));

test.each(fragments)("the page's field exists on an agent: %s", (fragment) => {
  const fields = runInThisContext(`({ instructions: "x", ${fragment} })`) as object;

  expect(agentSchema.safeParse(fields).error).toBeUndefined();
});

test("each field on the page exists on an agent, and each field of an agent is on the page", () => {
  const [table = ""] = /\| field \| default[^]*?\n\n/.exec(page) ?? [];
  // Of a field such as `voice.name`, only `voice`.
  const named = [...table.matchAll(/^\| ((?:`[\w.]+`(?:, )?)+) \|/gm)].flatMap(([, cell = ""]) =>
    cell.match(/(?<=`)\w+/g),
  );

  expect(new Set(named)).toEqual(new Set(Object.keys(agentSchema.shape)));
  expect(fragments.length).toBe(2);
});
