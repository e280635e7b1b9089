import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { text as textBlock, reply } from "../../src/model-server/step.ts";
import { findFreePorts } from "../support/servers/free-ports.ts";
import { WorkerParts } from "../worker/support/worker-parts.ts";

const page = await readFile("docs/hooks.md", "utf8");
/** A folder inside the repository, so that imports of the package `parley` resolve. */
const folder = resolve(".cache", `docs-hooks-${process.pid}`);

beforeAll(() => mkdir(folder, { recursive: true }));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes the page's example whose first line is its file's name. */
async function write(name: string): Promise<string> {
  const [, block = ""] = new RegExp(`\`\`\`ts\\n(// ${name}\\n[^]*?)\`\`\``).exec(page) ?? [];
  const path = join(folder, name);
  await writeFile(path, block);
  return path;
}

test("the page's hooks and the page's receiver are notified about a session", { timeout: 60_000 }, async () => {
  const secret = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
  const port = await findFreePorts(1);
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  await using cleanup = new AsyncDisposableStack();
  const crm = spawn(process.execPath, [await write("crm.ts")], { env, stdio: ["ignore", "pipe", "inherit"] });
  cleanup.defer(() => void crm.kill());
  let printed = "";
  crm.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  const parts = cleanup.use(await WorkerParts.start());
  const log = join(folder, "talks.log");
  const PARLEY_CONFIG = await write("parley.config.ts");
  const WEBHOOK_URL = `http://127.0.0.1:${port}/`;
  await parts.run({ env: { PARLEY_CONFIG, TALKS_LOG: log, WEBHOOK_URL, WEBHOOK_SECRET: secret } });
  const user = await parts.join("kitchen", "ann");
  await user.until(() => user.all("configuration").length > 0, "the worker", 20_000);
  await user.configure({});
  parts.model.script([reply([textBlock("42.")])]);
  await user.answerTo(await user.say("what is 21 * 2?"));

  await parts.rooms.deleteRoom("kitchen");
  await expect.poll(() => printed, { timeout: 15_000 }).not.toBe("");

  expect(page).toContain(`\n\`\`\`\n${printed}\`\`\`\n`);
  expect((await readFile(log, "utf8")).split("\n")).toEqual([
    "kitchen: ann is here",
    expect.stringMatching(/^kitchen: "what is 21 \* 2\?" took \d+ tokens$/),
    expect.stringMatching(/^kitchen: over after 1 turns \((room_deleted|unknown)\)$/),
    "",
  ]);
});
