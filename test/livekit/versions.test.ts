import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

// grant-token.ts creates tokens only in documented ways, so it depends on no version.
const files = await Array.fromAsync(glob("src/livekit/*.ts"));
const pieces = files.filter((file) => !file.endsWith("grant-token.ts")).toSorted();

test.each(pieces)("%s was checked with the installed versions", async (file) => {
  const text = await readFile(file, "utf8");
  const checked = [...text.matchAll(/(@livekit\/[a-z-]+)[\s*]+(\d+\.\d+\.\d+)/gu)].map(([, name = "", version]) => ({
    name,
    version,
  }));
  const installed = checked.map(async ({ name }) => {
    const manifest: { version: string } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    return { name, version: manifest.version };
  });

  expect(checked.length).toBeGreaterThan(0);
  // After an upgrade, check the comment's claim against the package and run the tests of the file that contains the
  // comment. Then write the new version into the comment.
  expect(checked).toEqual(await Promise.all(installed));
});
