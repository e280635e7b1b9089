import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { toPackageJson } from "../../src/cli/init/to-package-json.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { CHECKED_BY, SURROUNDINGS, DRAWINGS_AND_OUTPUT } from "./fence-rules.ts";
import { commandsOf, type Fence, FENCES, isTyped } from "./fences.ts";

const run = promisify(execFile);
const isCode = ({ language }: Fence) => language === "ts" || language === "tsx";
const isShell = (fence: Fence) => fence.language === "sh" || (fence.language === "" && isTyped(fence));
const isElsewhere = ({ page, language }: Fence) => `${page} ${language}` in CHECKED_BY;

const code = FENCES.filter(isCode);
const json = FENCES.filter(({ language }) => language === "json");
const shell = FENCES.filter(isShell);

test("each block on each page is type-checked, parsed, checked by its own test, or listed with the reason why not", () => {
  const checked = new Set([...code, ...json, ...shell, ...FENCES.filter(isElsewhere)]);
  const others = FENCES.filter((fence) => !checked.has(fence));

  expect(others.map(({ name }) => name).toSorted()).toEqual(Object.keys(DRAWINGS_AND_OUTPUT).toSorted());
});

test("no list contains a block that no longer exists", () => {
  const known = new Set([...FENCES.map(({ name }) => name), ...FENCES.map((each) => `${each.page} ${each.language}`)]);

  expect([...Object.keys(SURROUNDINGS), ...Object.keys(CHECKED_BY)].filter((name) => !known.has(name))).toEqual([]);
});

test.each(Object.entries(CHECKED_BY))("the blocks of %s are checked by a test that reads the page", (blocks, file) => {
  const [page = ""] = blocks.split(" ");

  expect(readFileSync(file, "utf8")).toContain(page.split("/").at(-1));
});

test.each(
  Object.entries(DRAWINGS_AND_OUTPUT).flatMap(
    ([name, why]) => why.match(/\btest\/[\w/.-]+\.ts/g)?.map((file) => [name, file]) ?? [],
  ),
)("the test listed for the block %s exists", (_name, file) => {
  expect(existsSync(file)).toBe(true);
});

test("the TypeScript of all pages compiles", { timeout: 120_000 }, async () => {
  await mkdir(".cache", { recursive: true });
  const folder = await mkdtemp(resolve(".cache/docs-fences-"));
  try {
    const files = new Map(code.map((fence, index) => [`piece-${index}.${fence.language}`, fence]));
    for (const [file, fence] of files) await writeFile(join(folder, file), toModule(fence));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings(folder)));

    const printed = await run(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", folder]).then(
      () => "",
      ({ stdout }: { stdout: string }) => stdout,
    );

    const problems = [...printed.matchAll(/(piece-\d+\.tsx?)\(.*?\): (error .*)/g)];
    expect(problems.map(([, file = "", what]) => `${files.get(file)?.name}: ${what}`)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each(json)("the JSON of $name is JSON", ({ text }) => {
  const parsed = () => JSON.parse(text) as unknown;

  expect(parsed).not.toThrow();
});

test.each(shell)("a shell can read the commands of $name", async (fence) => {
  const reading = run("bash", ["-n", "-c", commandsOf(fence).join("\n")]);

  await expect(reading).resolves.toMatchObject({ stderr: "" });
});

const clone = (JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object }).scripts;
const agent = (toPackageJson({}, "agent") as { scripts: object }).scripts;
const typed = shell.flatMap((fence) => commandsOf(fence).map((command) => [fence.page, command] as const));

test.each(typed.filter(([, command]) => /\bnpm run /.test(command)))(
  "%s: the script of %s exists",
  (_page, command) => {
    const names = [...command.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].flatMap(([, name]) => name ?? []);

    expect(names.filter((name) => !(name in clone) && !(name in agent))).toEqual([]);
  },
);

test.each(typed.filter(([, command]) => /npm run (?:-s )?parley -- /.test(command)))(
  "%s: parley knows the command and the options of %s",
  (_page, command) => {
    const [, name = "", rest = ""] = /parley -- (\w+)([^#|>]*)/.exec(command) ?? [];
    const folders: Readonly<Record<string, string>> = { worker: "src/worker/main.ts", decode: "src/cli/packets.ts" };
    const files = globSync(folders[name] ?? `src/cli/${name}/**/*.ts`);
    const sources = files.map((file) => readFileSync(file, "utf8")).join("\n");
    const options = [...(rest.split(" -- ")[0] ?? "").matchAll(/--[a-z-]+/g)].map(([option]) => option);

    expect([...COMMANDS.keys()]).toContain(name);
    expect(options.filter((option) => !sources.includes(option))).toEqual([]);
  },
);

test.each(typed.filter(([, command]) => command.includes("vitest run ")))(
  "%s: the tests of %s exist",
  (_page, command) => {
    const [, path = ""] = /vitest run ([\w/.-]+)/.exec(command) ?? [];

    expect(globSync(`${path}*`)).not.toEqual([]);
  },
);

/** A fragment from a page as a file that the compiler accepts. */
function toModule({ name, text }: Fence): string {
  const { before = "", after = "" } = SURROUNDINGS[name] ?? {};
  const isImport = /^import [^;]*;\n/gm;
  const imports = text.match(isImport) ?? [];
  return [...imports, before, text.replaceAll(isImport, ""), after, "export {};"].join("\n");
}

/**
 * The compiler's settings. Pages contain code for agents and for browser applications, so both kinds of types are
 * available.
 */
function settings(folder: string): object {
  const toRoot = (path: string) => [resolve(path)];
  return {
    extends: resolve("tsconfig.web.json"),
    compilerOptions: {
      types: ["node"],
      noUnusedLocals: false,
      noUnusedParameters: false,
      noPropertyAccessFromIndexSignature: false,
      exactOptionalPropertyTypes: false,
      paths: {
        "@parley/client/forms": toRoot("src/client/forms.ts"),
        "@parley/client": toRoot("src/client/index.ts"),
        "@parley/react": toRoot("clients/react/src/index.ts"),
        "parley/tools/get-time": toRoot("tools/time/get-time.ts"),
      },
    },
    include: [folder],
  };
}
