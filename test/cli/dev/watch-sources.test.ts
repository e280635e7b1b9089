import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { watchSources } from "../../../src/cli/dev/watch-sources.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("every replacement of a deeply nested source file is reported, and other files are not", async () => {
  await using folder = await tempFolder();
  const path = (...names: readonly string[]) => join(folder.path, ...names);
  await mkdir(path("server/rules"), { recursive: true });
  await mkdir(path("node_modules/a"), { recursive: true });
  await writeFile(path("server/rules/a.ts"), "0");
  const stop = new AbortController();
  const changedFiles: string[] = [];
  watchSources(folder.path, stop.signal, (file) => changedFiles.push(file));

  for (const text of ["1", "2", "3"]) {
    changedFiles.length = 0;
    await writeFile(path("node_modules/a/index.js"), text);
    await writeFile(path("server/rules/notes.md"), text);
    await writeFile(path("draft"), text);
    await rename(path("draft"), path("server/rules/a.ts"));
    await expect.poll(() => changedFiles).toContain("server/rules/a.ts");
  }
  stop.abort();

  expect(new Set(changedFiles)).toEqual(new Set(["server/rules/a.ts"]));
});
