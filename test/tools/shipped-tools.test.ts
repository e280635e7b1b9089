import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { isTool, type Tool } from "../../src/tool/define-tool.ts";
import { loadTools } from "../../src/tool/load-tools.ts";

const root = join(import.meta.dirname, "../..");
const files = globSync("**/[!_]*.ts", { cwd: join(root, "tools") });
const docs = readFileSync(join(root, "docs/tools.md"), "utf8");

const load = async (file: string): Promise<Tool> => {
  const { default: tool }: { default?: unknown } = await import(join(root, "tools", file));
  if (!isTool(tool)) throw new TypeError(`${file} exports no tool`);
  return tool;
};

test.each(files)("%s tells what the model must know", async (file) => {
  const { input, description } = await load(file);
  const schema = z.toJSONSchema(z.instanceof(z.ZodType).parse(input), { io: "input" });
  expect(description.length).toBeGreaterThan(20);
  expect(schema).toMatchObject({ type: "object", additionalProperties: false });
});

test("without settings only those tools exist that work without", async () => {
  const tools = await loadTools(join(root, "tools"));

  expect([...tools.keys()].toSorted()).toEqual(["calculator", "fetch_url", "get_time", "read_local_file"]);
});

test("the settings in docs/tools.md enable the others", async () => {
  const tools = await loadTools(join(root, "tools"), {
    web_search: { provider: "brave", apiKey: "key" },
    database_query: { url: "postgres://reader@localhost/x" },
    workspace: { root },
  });

  expect(tools.size).toBe(files.length);
});

test.each(files)("docs/tools.md has a section on %s", (file) => {
  expect(docs).toContain(`\n### ${basename(file, ".ts").replaceAll("-", "_")}\n`);
});

/** Tools that the page describes although no file in `tools/` contains them. */
const BUILT_IN = ["recall", "ask_user"];

test("docs/tools.md describes no missing tool", () => {
  const names = files.map((file) => basename(file, ".ts").replaceAll("-", "_"));
  const described = [...docs.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(new Set(described)).toEqual(new Set([...names, ...BUILT_IN]));
});
