import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AppError } from "../../src/errors/app-error.ts";
import { loadAgents } from "../../src/agent/load-agents.ts";
import { checkAgents, patternsWithoutMcpTool, patternsWithoutTool } from "../../src/worker/settings/check-agents.ts";

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

test("every file except helpers is an agent with the file's name, and agents are sorted", async () => {
  await write("front-desk.ts", agent('instructions: "Greet."'));
  await write("billing.ts", agent("instructions: ({ room }) => room"));
  await write("_shared.ts", "export const x = 1;");

  expect([...(await loadAgents(folder)).keys()]).toEqual(["billing", "front-desk"]);
});

test("a missing folder contains no agents", async () => {
  expect((await loadAgents(join(folder, "none"))).size).toBe(0);
});

test.each([
  ["exports something else", "export default {};", "the default export is not an agent (use defineAgent)"],
  ["throws", "throw new Error('no database');", "no database"],
  ["has no instructions", agent(""), "instructions: expected a string or a function, got nothing"],
  ["has a field that there is not", agent('instructions: "x", tool: []'), 'tool: unknown field. Did you mean "tools"?'],
  ["names tools oddly", agent('instructions: "x", tools: "all"'), 'tools: expected array, got "all"'],
  [
    "thinks oddly",
    agent('instructions: "x", model: { maxTokens: 0 }'),
    "model.maxTokens: expected number to be >0, got 0",
  ],
  [
    "greets oddly",
    agent('instructions: "x", greeting: 7'),
    "greeting: expected a string, {say: string} or {ask: string}, got 7",
  ],
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
    "waits with a sound that there is not",
    agent('instructions: "x", voice: { thinking: { sound: "none.wav" } }'),
    "voice.thinking.sound: ENOENT: no such file or directory, open 'none.wav'",
  ],
  [
    "rules oddly",
    agent('instructions: "x", permission: { rules: [{ type: "call" }] }'),
    "permission.rules.0.pattern: ",
  ],
])("a file that %s stops the start with an error that contains its path", async (_, text, why) => {
  await write("bad.ts", text);

  const loading = loadAgents(folder);
  await expect(loading).rejects.toMatchObject({ code: "invalid_config" });
  await expect(loading).rejects.toThrow(`${join(folder, "bad.ts")}: ${why}`);
});

test.each(["Billing", "1st", "a b", "default"])("no agent can be called %s", async (name) => {
  await write(`${name}.ts`, agent('instructions: "x"'));

  await expect(loadAgents(folder)).rejects.toMatchObject({ code: "invalid_config" });
});

test("an unknown tool stops the start, except for globs, built-in tools and tools from MCP servers", async () => {
  await write("billing.ts", agent('instructions: "x", tools: ["invoice", "recall", "crm_find", "bill_*", "invioce"]'));
  const agents = await loadAgents(folder);
  const known = { config: { agentsFolder: folder }, tools: new Map([["invoice", {}]]), prefixes: ["crm_"] };

  expect(() => checkAgents(agents, known)).toThrow(
    new AppError(
      "invalid_config",
      `${join(folder, "billing.ts")}: tools.4: tool "invioce" does not exist or is turned off. Did you mean "invoice"?`,
    ),
  );
});

const rule = (type: string, pattern: string, action: "allow" | "ask" | "deny" = "deny") => ({ type, pattern, action });

test("rules and globs that match no tool are reported, except for broad ones, other agents' rules and those for MCP servers' tools", async () => {
  const own = [
    rule("tool", "invoic", "allow"),
    rule("shell", "rm *"),
    rule("*", "*"),
    rule("tool", "inv*"),
    rule("bash", "x"),
  ];
  const rules = JSON.stringify([rule("tool", "crm_drop"), rule("tool", "end_call"), rule("tool", "refund")]);
  await write(
    "billing.ts",
    agent(`instructions: "x", tools: ["inv*", "*", "crm*", "crmfind_*"], permission: { rules: ${rules} }`),
  );
  const shell = { type: "bash", pattern: () => "x", title: () => "x" };
  const known = {
    config: { agentsFolder: folder, permission: { rules: own }, toolDetail: { invoce: "full", invoice: "off" } },
    tools: new Map([
      ["invoice", {}],
      ["bash", { permission: shell }],
    ]),
    prefixes: ["crm_"],
  };
  const agents = await loadAgents(folder);

  expect(() => checkAgents(agents, known)).not.toThrow();
  expect(patternsWithoutTool(agents, known)).toEqual([
    'parley.config.ts: toolDetail.invoce: no server tool matches "invoce". Did you mean "invoice"?',
    'parley.config.ts: permission.rules.0: no server tool matches "invoic". Did you mean "invoice"?',
    'parley.config.ts: permission.rules.1: no tool declares a permission of type "shell".',
    `${join(folder, "billing.ts")}: tools.3: no server tool matches "crmfind_*".`,
    `${join(folder, "billing.ts")}: permission.rules.2: no server tool matches "refund".`,
  ]);
});

test.each([
  [rule("tool", "roll_dic"), 'no server tool matches "roll_dic". Did you mean "roll_dice"?'],
  [rule("tool", "rol_dice", "ask"), 'no server tool matches "rol_dice". Did you mean "roll_dice"?'],
  [rule("tool", "roll"), 'no server tool matches "roll". Did you mean "roll_dice"?'],
  [rule("tool", "rol_*"), 'no server tool matches "rol_*". Did you mean "roll_*"?'],
  [rule("tool", "*_dic"), 'no server tool matches "*_dic". Did you mean "*_dice"?'],
  [rule("bassh", "rm *"), 'no tool declares a permission of type "bassh". Did you mean "bash"?'],
])("a rule that restricts nothing because it is misspelled stops the start: %j", async (misspelled, why) => {
  const config = { agentsFolder: folder, permission: { rules: [misspelled] } };
  const shell = { type: "bash", pattern: () => "x", title: () => "x" };
  const tools = new Map([
    ["roll_dice", {}],
    ["bash", { permission: shell }],
  ]);
  const known = { config, tools, prefixes: [] };

  expect(() => checkAgents(new Map(), known)).toThrow(`parley.config.ts: permission.rules.0: ${why}`);
  expect(patternsWithoutTool(new Map(), known)).toEqual([]);
});

test("a rule with a misspelled name of an MCP server stops the start", () => {
  const config = { agentsFolder: folder, permission: { rules: [rule("tool", "ticket_*")] } };

  expect(() => checkAgents(new Map(), { config, tools: new Map(), prefixes: ["tickets_"] })).toThrow(
    'permission.rules.0: no server tool matches "ticket_*". Did you mean "tickets_*"?',
  );
});

test("a misspelled name in toolDetail stops the start, because it hides nothing", () => {
  const config = { agentsFolder: folder, toolDetail: { rol_dice: "off" } };
  const known = { config, tools: new Map([["roll_dice", {}]]), prefixes: [] };

  expect(() => checkAgents(new Map(), known)).toThrow(
    'toolDetail.rol_dice: no server tool matches "rol_dice". Did you mean "roll_dice"?',
  );
});

test.each([rule("tool", "set_*", "ask"), rule("tool", "let_time"), rule("payment", "*"), rule("tool", "gets_time")])(
  "a rule that may be meant for a client's tool, a running tool's request or a tool that is off doesn't stop the start: %j",
  (restricting) => {
    const config = { agentsFolder: folder, permission: { rules: [restricting] } };
    const known = { config, tools: new Map([["get_time", {}]]), namesInFolder: ["gets_time"], prefixes: [] };

    expect(() => checkAgents(new Map(), known)).not.toThrow();
  },
);

test("once an MCP server has listed its tools, names, globs and rules that match none of them are reported", async () => {
  const rules = [rule("tool", "crm_drop"), rule("tool", "crm_find*"), rule("bash", "crm_x"), rule("tool", "refund")];
  await write(
    "billing.ts",
    agent('instructions: "x", tools: ["crm_fnd", "crm_find", "crm_z*", "crm*", "crm_eu_find"]'),
  );

  const lines = patternsWithoutMcpTool(await loadAgents(folder), {
    config: { agentsFolder: folder, permission: { rules } },
    tools: new Map([
      ["refund", {}],
      ["crm_find", {}],
    ]),
    prefix: "crm_",
    prefixes: ["crm_", "crm_eu_"],
    isLast: false,
  });

  expect(lines).toEqual([
    'parley.config.ts: permission.rules.0: no tool of the MCP server matches "crm_drop".',
    `${join(folder, "billing.ts")}: tools.0: no tool of the MCP server matches "crm_fnd". Did you mean "crm_find"?`,
    `${join(folder, "billing.ts")}: tools.2: no tool of the MCP server matches "crm_z*".`,
  ]);
});

test.each(["*_delte", "c?m_delte", "cr*_delte", "**_delte"])(
  "the rule %s, which matches no tool, is reported at startup, or once all MCP servers have listed their tools",
  async (pattern) => {
    const config = {
      agentsFolder: folder,
      permission: {
        rules: [pattern, "*_delete", "*"].map((each) => rule("tool", each)),
      },
    };
    const agents = await loadAgents(folder);
    const tools = new Map([["crm_delete", {}]]);
    const prefixes = ["crm_", "shop_"];
    const listed = (isLast: boolean) =>
      patternsWithoutMcpTool(agents, { config, tools, prefix: "shop_", prefixes, isLast });

    expect(() => checkAgents(agents, { config, tools, prefixes: [] })).toThrow(
      `permission.rules.0: no server tool matches "${pattern}".`,
    );
    expect(patternsWithoutTool(agents, { config, tools: new Map(), prefixes })).toEqual([]);
    expect(listed(false)).toEqual([]);
    expect(listed(true)).toEqual([
      expect.stringContaining(`permission.rules.0: no server tool or MCP tool matches "${pattern}".`),
    ]);
  },
);

test("agents in subfolders are found, and no two may have the same name", async () => {
  await mkdir(join(folder, "sales"));
  await write("sales/outbound.ts", agent('instructions: "x"'));
  expect([...(await loadAgents(folder)).keys()]).toEqual(["outbound"]);

  await write("outbound.ts", agent('instructions: "x"'));
  await expect(loadAgents(folder)).rejects.toThrow(`the agent's name "outbound" is already taken by ${folder}`);
});

test("a handoff to an unknown agent stops the start", async () => {
  await write("desk.ts", agent('instructions: "x", handoffs: { default: { when: "w" }, sales: { when: "w" } }'));
  const agents = await loadAgents(folder);

  expect(() => checkAgents(agents, { config: { agentsFolder: folder }, tools: new Map(), prefixes: [] })).toThrow(
    `${join(folder, "desk.ts")}: handoffs.sales: there is no agent "sales".`,
  );
});

test.each([
  ["an agent of the folder", "desk", "desk.ts: handoffs.desk"],
  ["that of the config", "default", "parley.config.ts: handoffs.default"],
])("%s cannot hand off to itself", async (_, name, where) => {
  const handoffs = { [name]: { when: "w", history: "whole" as const } };
  await write("desk.ts", agent(`instructions: "x", handoffs: ${JSON.stringify(name === "desk" ? handoffs : {})}`));
  const agents = await loadAgents(folder);
  const config = { agentsFolder: folder, handoffs: name === "default" ? handoffs : {} };

  expect(() => checkAgents(agents, { config, tools: new Map(), prefixes: [] })).toThrow(
    `${where}: an agent cannot hand off to itself`,
  );
});
