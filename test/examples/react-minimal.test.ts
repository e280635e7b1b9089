import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../../examples/react-minimal");

test("the smallest page is one file with fewer than 60 lines and one client tool", async () => {
  const sources = (await readdir(FOLDER)).filter((name) => /\.tsx?$/.test(name));
  const source = await readFile(join(FOLDER, "main.tsx"), "utf8");

  expect(sources).toEqual(["main.tsx"]);
  expect(source.trimEnd().split("\n").length).toBeLessThan(60);
  expect(source.match(/useClientTool\("/g)).toHaveLength(1);
});
