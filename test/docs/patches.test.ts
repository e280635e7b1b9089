import { glob, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect, test } from "vitest";

const page = await readFile("docs/patches.md", "utf8");
const CHECKED = /Checked\s+(?:\*\s+)?with\s/u;

test("the page lists every file that depends on a package's version, and no missing file", async () => {
  const files = await Array.fromAsync(glob("src/**/*.ts"));
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "utf8") })));
  const checked = texts.filter(({ text }) => CHECKED.test(text)).map(({ file }) => file);
  const named = [...page.matchAll(/`(src\/[\w./-]+\.ts)`/gu)].map(([, file = ""]) => file);

  expect(checked.length).toBeGreaterThan(10);
  expect(named).toEqual(expect.arrayContaining(checked));
  expect(files).toEqual(expect.arrayContaining(named));
});

test("the versions on the page are the installed ones", async () => {
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (\d\S+) \|$/gmu)];
  const { resolve } = createRequire(import.meta.url);
  const installed = rows.map(async ([, name = ""]) => {
    const path = resolve(name).replace(new RegExp(`(?<=/node_modules/${name}/).*`, "u"), "package.json");
    return (JSON.parse(await readFile(path, "utf8")) as { readonly version: string }).version;
  });

  expect(rows).toHaveLength(5);
  expect(await Promise.all(installed)).toEqual(rows.map(([, , version]) => version));
});
