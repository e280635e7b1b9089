import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { Tool } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { createToken } from "../support/participant.ts";
import { QUICKSTART, README, ROOT } from "./readme-blocks.ts";

/**
 * The folder for the pages' examples. It is two folders deep, like `tools/text/`, because the examples contain relative
 * imports.
 */
const folder = join(ROOT, ".cache", `docs-${process.pid}`);

beforeAll(() => mkdir(folder, { recursive: true }));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the model can use the README's tool", async () => {
  const file = join(folder, "count-words.ts");
  await writeFile(file, blockWith(README, "// tools/text/count-words.ts"));
  const { default: countWords } = (await import(file)) as { default: Tool };
  await using agent = await TestAgent.start({ tools: { count_words: countWords } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("count_words", { text: "to be or not" })]), reply([text("Four.")])]);

  expect(await user.answerTo(await user.say("Count"))).toBe("Four.");

  expect(await agent.calls()).toMatchObject([{ name: "count_words", state: "success", result: { words: 4 } }]);
});

test("the quickstart's client program prints what the quickstart says", async () => {
  await using agent = await TestAgent.start();
  await using tokens = await serveTokens(agent.roomName);
  agent.model.script([
    reply([text("Let me see."), toolUse("show_notification", { message: "dinner is ready" })]),
    reply([text("The notification is on your screen.")]),
  ]);
  const file = join(folder, "hello.ts");
  const program = blockWith(QUICKSTART, "// hello.ts")
    .replace("@parley/client", "../../src/client/index.ts")
    .replace("http://127.0.0.1:8080", tokens.url);
  await writeFile(file, program);

  const env = { ...process.env, NODE_ENV: "production" };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 15_000 });

  expect(QUICKSTART).toContain(`$ NODE_ENV=production npx node hello.ts\n${stdout}`);
  expect(stdout).toContain("** dinner is ready **");
});

function blockWith(page: string, firstLine: string): string {
  const blocks = [...page.matchAll(/```ts\n([^`]*(?:`[^`]+`[^`]*)*)```/g)].map(([, block = ""]) => block);
  return blocks.find((block) => block.startsWith(firstLine)) ?? "";
}

/** Serves tokens for one room, as a worker's `POST /token` does. */
async function serveTokens(room: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_request, response) => {
    void createToken(room, "alice").then((token) =>
      response.end(JSON.stringify({ token, livekitUrl: inject("livekitUrl") })),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}
