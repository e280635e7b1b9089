import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { runInThisContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentSchema } from "../../src/agent/agent-fields.ts";
import { scripted } from "../../src/testing/model/scripted.ts";
import { startTalk } from "../../src/testing/start-talk.ts";

const page = await readFile("docs/agents.md", "utf8");
const blocks = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, block = ""]) => block);
/** In a folder of the clone, so that `import … from "parley"` finds the package. */
const folder = resolve(".cache", `docs-agents-${process.pid}`);

beforeAll(async () => {
  const example = blocks.find((block) => block.startsWith("// agents/billing.ts\nimport")) ?? "";
  await mkdir(join(folder, "agents"), { recursive: true });
  await writeFile(join(folder, "agents/billing.ts"), example);
  const config = { instructions: "You are the front desk.", toolsFolder: resolve("tools") };
  await writeFile(join(folder, "parley.config.ts"), `export default ${JSON.stringify(config)};`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the page's agent talks, with its own instructions and tools", async () => {
  const seen: Record<string, unknown>[] = [];
  const model = scripted(({ body }) => {
    seen.push(body);
    return "It is paid.";
  });
  await using talk = await startTalk({ config: join(folder, "parley.config.ts"), agent: "billing", model });

  expect((await talk.say("My invoice?")).text).toBe("It is paid.");

  expect(JSON.stringify(seen[0]?.["system"])).toMatch(
    /You answer questions about invoices\. You talk with .* \(customer unknown\)/,
  );
  expect(seen[0]?.["tools"]).toMatchObject([{ name: "get_time" }]);
});

/** Fields of an agent, as the page shows them by themselves. */
const fragments = blocks.flatMap((block) =>
  block.split(/^(?=\w+: )/m).filter((part) => /^(?:greeting|idle|callTools|handoffs): /.test(part)),
);

test.each(fragments)("the page's field is one of an agent: %s", (fragment) => {
  const fields = runInThisContext(`({ instructions: "x", ${fragment} })`) as object;

  expect(agentSchema.safeParse(fields).error).toBeUndefined();
});

test("each field that the page names is an agent's, and each field of an agent is on the page", () => {
  const [table = ""] = /\| field \| default[^]*?\n\n/.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| ((?:`[\w.]+`(?:, )?)+) \|/gm)].flatMap(([, cell = ""]) =>
    cell.match(/\w+(?=[.`])/g),
  );
  const named = rows.filter((name) => name !== "rules" && name !== "name");

  expect(new Set(named)).toEqual(new Set(Object.keys(agentSchema.shape)));
  expect(fragments.length).toBe(5);
});
