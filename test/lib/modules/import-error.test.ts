import { execFile } from "node:child_process";
import { realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { forFile } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const SRC = join(import.meta.dirname, "../../../src");
/** The programs that load a tools folder, an agents folder and a config file. */
const LOADERS = {
  tools: `import { loadTools as load } from ${JSON.stringify(join(SRC, "tool/load-tools.ts"))}; await load(".")`,
  agents: `import { loadAgents as load } from ${JSON.stringify(join(SRC, "agent/load-agents.ts"))}; await load(".")`,
  config: `import { readConfigFile as load } from ${JSON.stringify(join(SRC, "worker/settings/read-config-file.ts"))};
    await load(process.cwd() + "/parley.config.ts")`,
};
const HOOKS = join(SRC, "worker/hooks/worker-hooks.ts");
const TOOL = join(import.meta.dirname, "../../../src/tool/define-tool.ts");

const folder = forFile(() => tempFolder());

/** Loads the files in a separate Node process, because Vitest would compile them differently. */
async function failureOf(
  files: Readonly<Record<string, string>>,
  loader: keyof typeof LOADERS = "tools",
): Promise<string> {
  await using tools = await tempFolder(folder.path);
  for (const [name, content] of Object.entries(files)) await writeFile(join(tools.path, name), content);
  const script = `${LOADERS[loader]}.catch(({ message }) => process.stdout.write(message));`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: tools.path });
  return stdout.replaceAll(`${await realpath(tools.path)}/`, "");
}

const usesHelper = `import { soup } from "./_menu.ts";\nexport default soup;`;

test.each([
  [
    "a helper throws",
    { "dice.ts": usesHelper, "_menu.ts": "const menu: any = {};\n\nexport const soup = menu.dishes.soup;" },
    "dice.ts: Cannot read properties of undefined (reading 'soup') (at _menu.ts:3:33)",
  ],
  [
    "a helper cannot be parsed",
    { "dice.ts": usesHelper, "_menu.ts": "export const soup = {\n  hot: 1\n  cold: 2,\n};" },
    "dice.ts: Expected ',', got 'ident' (at _menu.ts:3:3)",
  ],
  [
    "a helper lacks a name",
    { "dice.ts": usesHelper, "_menu.ts": "export const salad = 1;" },
    "dice.ts: The requested module './_menu.ts' does not provide an export named 'soup' (at dice.ts:1:10)",
  ],
  [
    "a helper throws a message that ends like a place",
    { "dice.ts": usesHelper, "_menu.ts": 'throw new Error("no answer from kitchen:80");\nexport const soup = 1;' },
    "dice.ts: no answer from kitchen:80 (at _menu.ts:1:7)",
  ],
  [
    "the tool misspells a field",
    {
      "dice.ts": `import { defineTool } from ${JSON.stringify(TOOL)};\n\nexport default defineTool({ permissions: {} });`,
    },
    'dice.ts: "permissions" is not a field of defineTool. Did you mean "permission"? (at dice.ts:3:16)',
  ],
  [
    "a helper misspells a hook",
    {
      "dice.ts": usesHelper,
      "_menu.ts": `import { registerWorkerHooks } from ${JSON.stringify(HOOKS)};
        export const soup = 1;
        registerWorkerHooks(import.meta, { onWorkerEnd: () => {}, onReloud: () => {} });`,
    },
    'dice.ts: "onWorkerEnd" is not a field of registerWorkerHooks. "onReloud" is not a field of registerWorkerHooks. ' +
      'Did you mean "onReload"? (at _menu.ts:3:9)',
  ],
  [
    "a helper throws an error that has only a code",
    {
      "dice.ts": usesHelper,
      "_menu.ts": 'throw Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });\nexport const soup = 1;',
    },
    "dice.ts: ECONNREFUSED (at _menu.ts:1:21)",
  ],
  [
    "a helper imports a file that does not exist",
    { "dice.ts": usesHelper, "_menu.ts": 'export const soup = 1;\n  export * from "./_dishes.ts";' },
    "dice.ts: Cannot find module '_dishes.ts' imported from _menu.ts (at _menu.ts:2:17)",
  ],
  [
    "a helper imports a package that is not installed",
    { "dice.ts": usesHelper, "_menu.ts": '\nimport { knife } from "no-such-kitchen/tools";' },
    "dice.ts: Cannot find package 'no-such-kitchen' imported from _menu.ts (at _menu.ts:2:23)",
  ],
  [
    "a helper uses syntax that Node cannot strip",
    { "dice.ts": usesHelper, "_menu.ts": "export const soup = 1;\n\n  enum Dish { Soup }" },
    "dice.ts: TypeScript enum is not supported in strip-only mode (at _menu.ts:3:3)",
  ],
])("when %s, the error contains the file, the line and the column", async (_, files, message) => {
  expect(await failureOf(files)).toBe(message);
});

test.each([
  ["agents", "cook.ts", "cook.ts: "],
  ["config", "parley.config.ts", "parley.config.ts: cannot be loaded: "],
] as const)("a broken helper of %s is named with its place", async (loader, file, prefix) => {
  const throws = { [file]: usesHelper, "_menu.ts": "const menu: any = {};\nexport const soup = menu.dishes.soup;" };
  const unparsed = { [file]: usesHelper, "_menu.ts": "export const soup = {\n  hot: 1\n  cold: 2,\n};" };

  expect(await failureOf(throws, loader)).toBe(
    `${prefix}Cannot read properties of undefined (reading 'soup') (at _menu.ts:2:33)`,
  );
  expect(await failureOf(unparsed, loader)).toBe(`${prefix}Expected ',', got 'ident' (at _menu.ts:3:3)`);
});
