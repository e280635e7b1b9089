import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkDependencies } from "../../scripts/packages/check-dependencies.ts";
import { tempFolder } from "../support/temp-folder.ts";

const CACHE = join(import.meta.dirname, "../../.cache");

/** A folder of built packages that contains one package. */
async function built(dependencies: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>) {
  const folder = await tempFolder(CACHE);
  const manifest = JSON.stringify({ name: "some", type: "module", exports: "./dist/index.js", dependencies });
  await mkdir(join(folder.path, "some/dist"), { recursive: true });
  await writeFile(join(folder.path, "some/package.json"), manifest);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, "some/dist", name), text);
  return folder;
}

test("a built package may mention packages in comments and texts, and imports its dependencies", async () => {
  const text = '// taken from "dollar"\nexport const text = \'import "cents"\';\nexport { nanoid } from "nanoid";\n';
  await using folder = await built({ nanoid: "6.0.2" }, { "index.js": text });

  await expect(checkDependencies(folder.path)).resolves.toBeUndefined();
});

test("importing an undeclared package fails the build", async () => {
  await using folder = await built({}, { "index.js": 'export const loaded = () => import("yaml");\n' });

  await expect(checkDependencies(folder.path)).rejects.toThrow(/Unlisted dependencies \(1\)\nyaml {2}some\/dist/);
});

test("a package needed only for types is a dependency, too", async () => {
  const types = 'export declare const sql: import("postgres").Sql;\n';
  await using folder = await built({}, { "index.js": "export const sql = 1;\n", "index.d.ts": types });

  await expect(checkDependencies(folder.path)).rejects.toThrow(/Unlisted dependencies \(1\)\npostgres {2}/);
});

test("a dependency that nothing imports fails the build", async () => {
  await using folder = await built({ yaml: "2.9.1" }, { "index.js": "// import yaml\nexport {};\n" });

  await expect(checkDependencies(folder.path)).rejects.toThrow(/Unused dependencies \(1\)\nyaml {2}some\/package.json/);
});
