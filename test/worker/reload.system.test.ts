import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { Participant } from "../support/participant.ts";
import { WorkerParts } from "./support/worker-parts.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const source = (file: string) => JSON.stringify(join(import.meta.dirname, "../../src", file));
const tool = (run: string, before = "") => `
  import { defineTool } from ${source("tool/define-tool.ts")};
  ${before}
  export default defineTool({ description: "D.", input: { type: "object" }, run: ${run} });`;
const agent = (instructions: string) => `
  import { defineAgent } from ${source("agent/define-agent.ts")};
  export default defineAgent({ instructions: ${JSON.stringify(instructions)} });`;

const badAgent = agent("Never.").replace("instructions", "instruction");

const parts = forFile(() => WorkerParts.start());
let user: Participant;

async function write(files: Readonly<Record<string, string>>, { folder } = parts): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    // Saves as editors do: a new file replaces the old one.
    await writeFile(join(folder, `${file}.tmp`), content);
    await rename(join(folder, `${file}.tmp`), join(folder, file));
  }
}

async function startWorker(files: Readonly<Record<string, string>>, own = parts, env: NodeJS.ProcessEnv = {}) {
  const folders = { toolsFolder: join(own.folder, "tools"), agentsFolder: join(own.folder, "agents") };
  await write(
    {
      ...files,
      "package.json": '{ "type": "module" }',
      "parley.config.ts": `export default ${JSON.stringify({ instructions: "Help.", ...folders })};`,
    },
    own,
  );
  return own.run({ env: { PARLEY_CONFIG: join(own.folder, "parley.config.ts"), ...env } });
}

async function joinAs(agentName: string, own = parts): Promise<Participant> {
  const attributes = { agent: agentName };
  const participant = await Participant.join(`room-${createId()}`, "ana", { server: own.livekit, attributes });
  await participant.until(() => participant.all("configuration").length > 0, "the worker's configuration", 20_000);
  await participant.configure({});
  return participant;
}

/**
 * Waits until the session uses the saved files: at that moment, it sends its tools to clients again. Returns how many
 * ms that took.
 */
async function msUntilReloaded(save: Promise<unknown>, by = user): Promise<number> {
  const before = by.all("configuration").length;
  const at = performance.now();
  await save;
  await by.until(() => by.all("configuration").length > before, "news of the change");
  return performance.now() - at;
}

/** Makes the model call a tool. Returns the result that the model receives. */
async function call(name: string, { by = user, own = parts } = {}): Promise<unknown> {
  own.model.script([reply([toolUse(name)]), reply([text("Done.")])]);
  await by.answerTo(await by.say(`Use ${name}`));
  return lastResult(own);
}

function lastResult({ model } = parts): unknown {
  const messages = model.requests.at(-1)?.body["messages"] as { content: { content?: string }[] }[];
  return messages.at(-1)?.content[0]?.content;
}

const lastRequest = (own = parts) => own.model.requests.at(-1)?.body ?? {};
const promptOf = (own = parts) => (lastRequest(own)["system"] as { text: string }[])[0]?.text;
const offered = () => (lastRequest()["tools"] as { name: string }[]).map(({ name }) => name);

beforeAll(async () => {
  await startWorker({
    "tools/games/dice.ts": tool("() => ({ sides })", 'import { sides } from "./_sides.ts";'),
    "tools/games/_sides.ts": "export const sides = 6;",
    "tools/count.ts": tool("() => ({ count: ++count })", "let count = 0;"),
    "agents/desk.ts": agent("You are the front desk."),
  });
});
beforeEach(async () => {
  user = await joinAs("desk");
});
afterEach(() => user.leave());

test("the next turn uses a saved tool, even if only its helper was saved, and no other tool is reloaded", async () => {
  const before = [await call("dice"), await call("count")];

  const times = [];
  for (const sides of [8, 12, 20])
    times.push(await msUntilReloaded(write({ "tools/games/_sides.ts": `export const sides = ${sides};` })));

  expect(before).toEqual(['{"sides":6}', '{"count":1}']);
  expect([await call("dice"), await call("count")]).toEqual(['{"sides":20}', '{"count":2}']);
  expect(Math.min(...times)).toBeLessThan(500);
  expect(parts.model.rejections).toEqual([]);
});

test("an open call ends with the code it started with, and the next one uses the new tool", async () => {
  const release = join(parts.folder, createId());
  const wait = `while (!existsSync(${JSON.stringify(release)})) await new Promise((go) => setTimeout(go, 10));`;
  const slow = (word: string) =>
    tool(`async () => { ${wait} return { is: "${word}" }; }`, 'import { existsSync } from "node:fs";');
  await msUntilReloaded(write({ "tools/slow.ts": slow("old") }));
  parts.model.script([reply([toolUse("slow")]), reply([text("Done.")])]);
  const messageId = await user.say("Use slow");
  await user.next("tool_use_request");

  await msUntilReloaded(write({ "tools/slow.ts": slow("new") }));
  await writeFile(release, "");
  await user.answerTo(messageId);

  expect(lastResult()).toBe('{"is":"old"}');
  expect(await call("slow")).toBe('{"is":"new"}');
});

test("the model is offered a tool whose file was added, and no longer once it is removed", async () => {
  await msUntilReloaded(write({ "tools/extra.ts": tool("() => 1") }));
  await call("extra");
  const withIt = offered();

  await msUntilReloaded(rm(join(parts.folder, "tools/extra.ts")));
  parts.model.script([reply([text("Hello.")])]);
  await user.answerTo(await user.say("Hello"));

  expect(withIt).toContain("extra");
  expect(offered()).toEqual(withIt.filter((name) => name !== "extra"));
});

test("the next turn has an agent's saved instructions; saving a tool leaves them cached", async () => {
  await call("count");
  const before = promptOf();

  const times = [];
  for (const who of ["the cook", "the driver", "the night porter"])
    times.push(await msUntilReloaded(write({ "agents/desk.ts": agent(`You are ${who}.`) })));
  await call("count");
  const after = promptOf();
  await msUntilReloaded(write({ "tools/games/_sides.ts": "export const sides = 4;" }));
  await call("dice");

  expect([before, after]).toEqual(["You are the front desk.", "You are the night porter."]);
  expect(Math.min(...times)).toBeLessThan(500);
  expect(parts.model.requests.at(-2)?.usage?.["cache_read_input_tokens"]).toBeGreaterThan(0);
});

test("an agent whose file cannot be loaded stays as it was, and changes once the file is fixed", async () => {
  await msUntilReloaded(write({ "agents/desk.ts": agent("You are at the desk.") }));
  await msUntilReloaded(write({ "agents/desk.ts": badAgent }));
  await call("count");
  const meanwhile = promptOf();

  await msUntilReloaded(write({ "agents/desk.ts": agent("You are back.") }));
  await call("count");

  expect([meanwhile, promptOf()]).toEqual(["You are at the desk.", "You are back."]);
});

test("if a file cannot be loaded, all processes keep the old version, and one log line says why", async () => {
  await using own = await WorkerParts.start();
  const env = { SESSIONS_PER_PROCESS: "1" };
  const main = await startWorker({ "tools/dice.ts": tool("() => ({ sides: 6 })") }, own, env);
  await using by = await joinAs("default", own);
  await using other = await joinAs("default", own);

  const savedForBoth = (save: Promise<unknown>) =>
    Promise.all([msUntilReloaded(save, by), msUntilReloaded(save, other)]);

  await savedForBoth(write({ "tools/dice.ts": 'import "./_gone.ts";\nexport default {' }, own));
  const meanwhile = await call("dice", { by, own });
  await savedForBoth(write({ "tools/dice.ts": tool("() => ({ sides: 8 })") }, own));
  const mended = [await call("dice", { by, own }), await call("dice", { by: other, own })];
  await savedForBoth(write({ "agents/cook.ts": badAgent }, own));
  // A process that starts now has no older versions in memory.
  await using late = await joinAs("cook", own);
  const lateCall = await call("dice", { by: late, own });
  main.kill("SIGINT");
  const { stderr } = await main.ended;

  expect([meanwhile, ...mended]).toEqual(['{"sides":6}', '{"sides":8}', '{"sides":8}']);
  const lines = stderr.split("\n").filter((line) => line.includes("loading changed files failed"));
  expect(lateCall).toBe('{"sides":8}');
  expect(promptOf(own)).toBe("Help.");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain(join(own.folder, "tools/dice.ts"));
  expect(lines[1]).toContain(`${join(own.folder, "agents/cook.ts")}: instruction`);
});
