import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { WorkerParts } from "../../worker/support/worker-parts.ts";

test("a worker's rooms find the servers connected, a hanging one delays nothing, and none outlives the worker", async () => {
  await using parts = await WorkerParts.start();
  const { model, folder } = parts;
  const notes = async () => (await readFile(join(folder, "notes"), "utf8").catch(() => "")).split("\n");
  const main = await parts.run({
    env: { PARLEY_CONFIG: "test/fixtures/mcp/parley.config.ts", MCP_NOTES: join(folder, "notes") },
  });
  await vi.waitFor(async () => expect((await notes())[0]).toMatch(/^start/), { timeout: 10_000 });

  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration");
  model.script([reply([toolUse("shop_echo", { text: "hi" })]), reply([text("Done.")])]);
  expect(await user.answerTo(await user.say("Go"))).toBe("Done.");
  expect(model.rejections).toEqual([]);
  expect(await notes()).toContain("call echo");

  main.kill("SIGTERM");
  expect(await main.ended).toMatchObject({ code: 0 });
  const started = (await notes()).flatMap((line) => /^start (\d+) - -$/.exec(line)?.[1] ?? []);
  expect(started.length).toBeGreaterThan(0);
  await vi.waitFor(() => expect(started.filter((pid) => processStart(Number(pid)) !== undefined)).toEqual([]));
}, 60_000);

test("a deny rule that misspells an MCP server's tool is reported in the worker's log", async () => {
  await using parts = await WorkerParts.start();
  const { model, folder } = parts;
  const config = join(folder, "parley.config.ts");
  await writeFile(
    config,
    `import base from ${JSON.stringify(resolve("test/fixtures/mcp/parley.config.ts"))};
    const rules = [{ type: "tool", pattern: "shop_eco", action: "deny" }];
    export default { ...base, permission: { rules } };`,
  );
  const main = await parts.run({ env: { PARLEY_CONFIG: config, MCP_NOTES: join(folder, "notes") } });
  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration");
  model.script([reply([toolUse("shop_echo", { text: "hi" })]), reply([text("Done.")])]);
  await user.answerTo(await user.say("Go"));

  main.kill("SIGTERM");
  const { stderr } = await main.ended;

  expect(stderr).toContain("name, glob or permission rule matches no MCP tool");
  expect(stderr).toContain(
    String.raw`permission.rules.0: no tool of the MCP server matches \"shop_eco\". Did you mean \"shop_echo\"?`,
  );
}, 60_000);
