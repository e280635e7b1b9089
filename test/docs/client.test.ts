import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Parley } from "../../src/client/index.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { openSdk } from "../client/open-sdk.ts";
import { TestAgent } from "../support/agent.ts";
import { messagesTo } from "../support/model-view.ts";
import { PNG } from "../support/pictures.ts";

type Example = (parley: Parley, fileInput: { readonly files: readonly File[] }) => Promise<void>;

/** The page's example that contains these words. */
async function exampleWith(words: string): Promise<Example> {
  const page = await readFile(new URL("../../docs/client.md", import.meta.url), "utf8");
  const code = [...page.matchAll(/```ts\n([^]*?)```/gu)].find(([, block]) => block?.includes(words))?.[1] ?? "";
  const folder = join(import.meta.dirname, "../../.cache", `docs-client-${process.pid}`);
  await mkdir(folder, { recursive: true });
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "example.ts");
  await writeFile(file, `export default async (parley, fileInput) => {\n${code}};\n`);
  return ((await import(file)) as { default: Example }).default;
}

test("the page's example shows the model a picture that a person picked", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "ana");
  agent.model.script([reply([text("The left wheel.")])]);
  const example = await exampleWith("attachments");

  await example(parley, { files: [new File([PNG], "bicycle.png", { type: "image/png" })] });

  expect(messagesTo(agent)[0]?.content).toMatchObject([
    { type: "image", source: { media_type: "image/png", data: Buffer.from(PNG).toString("base64") } },
    { text: "What is broken here?" },
  ]);
});
