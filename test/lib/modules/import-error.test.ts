import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { forFile } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const LOADER = join(import.meta.dirname, "../../../src/tool/load-tools.ts");
const TOOL = join(import.meta.dirname, "../../../src/tool/define-tool.ts");

const folder = forFile(() => tempFolder());

/** Loads `tools/` in a separate Node process, because Vitest would compile the files differently. */
async function failureOf(files: Readonly<Record<string, string>>): Promise<string> {
  await using tools = await tempFolder(folder.path);
  for (const [name, content] of Object.entries(files)) await writeFile(join(tools.path, name), content);
  const script = `
    import { loadTools } from ${JSON.stringify(LOADER)};
    await loadTools(".").catch(({ message }) => process.stdout.write(message));
  `;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: tools.path });
  return stdout;
}

const usesHelper = `import { soup } from "./_menu.ts";\nexport default soup;`;

test.each([
  [
    "a helper throws",
    { "dice.ts": usesHelper, "_menu.ts": "const menu: any = {};\n\nexport const soup = menu.dishes.soup;" },
    "dice.ts: Cannot read properties of undefined (reading 'soup') (at _menu.ts:3)",
  ],
  [
    "a helper cannot be parsed",
    { "dice.ts": usesHelper, "_menu.ts": "export const soup = {\n  hot: 1\n  cold: 2,\n};" },
    "dice.ts: Expected ',', got 'ident' (at _menu.ts:3)",
  ],
  [
    "a helper lacks a name",
    { "dice.ts": usesHelper, "_menu.ts": "export const salad = 1;" },
    "dice.ts: The requested module './_menu.ts' does not provide an export named 'soup' (at dice.ts:1)",
  ],
  [
    "a helper throws a message that ends like a place",
    { "dice.ts": usesHelper, "_menu.ts": 'throw new Error("no answer from kitchen:80");\nexport const soup = 1;' },
    "dice.ts: no answer from kitchen:80 (at _menu.ts:1)",
  ],
  [
    "the tool misspells a field",
    {
      "dice.ts": `import { defineTool } from ${JSON.stringify(TOOL)};\n\nexport default defineTool({ permissions: {} });`,
    },
    'dice.ts: "permissions" is not a field of defineTool. Did you mean "permission"? (at dice.ts:3)',
  ],
])("when %s, the error contains the file and the line", async (_, files, message) => {
  expect(await failureOf(files)).toBe(message);
});
