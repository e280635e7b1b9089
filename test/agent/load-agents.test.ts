import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadAgents } from "../../src/agent/load-agents.ts";
import { checkAgents } from "../../src/worker/settings/check-agents.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(import.meta.dirname, "agents-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SOURCE = join(import.meta.dirname, "../../src/agent/define-agent.ts");
const agent = (fields: string) => `
  import { defineAgent } from ${JSON.stringify(SOURCE)};
  export default defineAgent({ ${fields} });`;
const write = (name: string, text: string) => writeFile(join(folder, name), text);

test("every file is an agent, named after it and sorted; helpers are none", async () => {
  await write("front-desk.ts", agent('instructions: "Greet."'));
  await write("billing.ts", agent("instructions: ({ room }) => room"));
  await write("_shared.ts", "export const x = 1;");

  expect([...(await loadAgents(folder)).keys()]).toEqual(["billing", "front-desk"]);
});

test("a folder that is not there has no agents", async () => {
  expect((await loadAgents(join(folder, "none"))).size).toBe(0);
});

test.each([
  ["exports something else", "export default {};", "the default export is no agent (use defineAgent)"],
  ["throws", "throw new Error('no database');", "no database"],
  ["has no instructions", agent(""), "instructions: expected a text or a function, got nothing"],
  ["has a field that there is not", agent('instructions: "x", tool: []'), "tool: expected no such field, got one"],
  ["names tools oddly", agent('instructions: "x", tools: "all"'), 'tools: expected array, got "all"'],
  [
    "thinks oddly",
    agent('instructions: "x", model: { maxTokens: 0 }'),
    "model.maxTokens: expected number to be >0, got 0",
  ],
  ["greets oddly", agent('instructions: "x", greeting: 7'), "greeting: expected a text or {ask: a text}, got 7"],
  [
    "is idle oddly",
    agent('instructions: "x", idle: [{ afterMs: 1, say: "?" }]'),
    "idle.0.afterMs: expected number to be >=500, got 1",
  ],
  [
    "transfers oddly",
    agent('instructions: "x", callTools: { transfer_call: { sales: "0301234" } }'),
    "callTools.transfer_call.sales: expected tel:+4930123456 or sip:sales@example.com",
  ],
  ["hands over oddly", agent('instructions: "x", handoffs: { sales: {} }'), "handoffs.sales.when: expected string"],
  ["has no hook", agent('instructions: "x", onTurnEnd: "log"'), "onTurnEnd: expected a function"],
  ["speaks oddly", agent('instructions: "x", voice: { name: "" }'), "voice.name: "],
  [
    "rules oddly",
    agent('instructions: "x", permission: { rules: [{ type: "call" }] }'),
    "permission.rules.0.pattern: ",
  ],
])("a file that %s stops the start with its path", async (_, text, why) => {
  await write("bad.ts", text);

  const loading = loadAgents(folder);
  await expect(loading).rejects.toMatchObject({ code: "invalid_config" });
  await expect(loading).rejects.toThrow(`${join(folder, "bad.ts")}: ${why}`);
});

test.each(["Billing", "1st", "a b", "default"])("no agent can be called %s", async (name) => {
  await write(`${name}.ts`, agent('instructions: "x"'));

  await expect(loadAgents(folder)).rejects.toMatchObject({ code: "invalid_config" });
});

test("a tool that there is not stops the start; globs, built-in tools and those of MCP servers do not", async () => {
  await write("billing.ts", agent('instructions: "x", tools: ["invoice", "recall", "crm_find", "bill_*", "refund"]'));
  const agents = await loadAgents(folder);
  const known = { config: { agentsFolder: folder }, toolNames: new Set(["invoice"]), prefixes: ["crm_"] };

  expect(() => checkAgents(agents, known)).toThrow(
    `${join(folder, "billing.ts")}: tools.4: there is no tool "refund", or it is off`,
  );
});

test("an agent that hands over to one that there is not stops the start", async () => {
  await write("desk.ts", agent('instructions: "x", handoffs: { default: { when: "w" }, sales: { when: "w" } }'));
  const agents = await loadAgents(folder);

  expect(() => checkAgents(agents, { config: { agentsFolder: folder }, toolNames: new Set(), prefixes: [] })).toThrow(
    `${join(folder, "desk.ts")}: handoffs.sales: there is no agent "sales"`,
  );
});

test.each([
  ["an agent of the folder", "desk", "desk.ts: handoffs.desk"],
  ["that of the config", "default", "parley.config.ts: handoffs.default"],
])("%s cannot hand over to itself", async (_, name, where) => {
  const handoffs = { [name]: { when: "w", history: "whole" as const } };
  await write("desk.ts", agent(`instructions: "x", handoffs: ${JSON.stringify(name === "desk" ? handoffs : {})}`));
  const agents = await loadAgents(folder);
  const config = { agentsFolder: folder, handoffs: name === "default" ? handoffs : {} };

  expect(() => checkAgents(agents, { config, toolNames: new Set(), prefixes: [] })).toThrow(
    `${where}: an agent cannot hand over to itself`,
  );
});
