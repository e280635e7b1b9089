import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadTools } from "../../src/tool/load-tools.ts";

let folder: string;
beforeEach(async () => {
  // The folder is inside the repository, so that the tools' imports resolve.
  folder = await mkdtemp(join(import.meta.dirname, "tools-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SOURCE = join(import.meta.dirname, "../../src/tool/define-tool.ts");
const tool = (fields = "") => `
  import { defineTool } from ${JSON.stringify(SOURCE)};
  export default defineTool({ description: "D.", input: { type: "object" }, run: () => "ok", ${fields} });`;
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

test("every file except helpers is a tool with the file's name, and tools are sorted", async () => {
  await write({ "web/web-search.ts": tool(), "a.ts": tool(), "web/_helper.ts": "export const x = 1;", "notes.md": "" });

  expect([...(await loadTools(folder)).keys()]).toEqual(["a", "web_search"]);
});

test.each([
  ["has no default export", "export const x = 1;", "the default export is not a tool (use defineTool)"],
  ["exports something else", "export default { run() {} };", "the default export is not a tool (use defineTool)"],
  ["throws", "throw new Error('no network');", "no network"],
  ["is no TypeScript", "export default {", ""],
  [
    "misspells its permission",
    tool("permissions: {}"),
    '"permissions" is not a field of defineTool. Did you mean "permission"?',
  ],
  [
    "misspells a field of its permission",
    tool('permission: { type: "x", patern: () => "x", title: () => "x" }'),
    '"patern" is not a field of a tool\'s permission. Did you mean "pattern"?',
  ],
  [
    "is written for another kit",
    tool("execute: () => 1"),
    '"execute" is not a field of defineTool. Did you mean "run"?',
  ],
  ["describes nothing", tool('description: " "'), "description: expected a non-empty string"],
  ["has no function", tool("run: undefined"), "run: expected a function"],
  ["has no input", tool("input: undefined"), "the input schema's root must have type"],
  ["takes too long", tool("timeoutMs: 600_001"), "timeoutMs: expected an integer from 1 to 600000, got 600001"],
  ["takes no time", tool("timeoutMs: 0"), "timeoutMs: expected an integer"],
  ["needs settings that have no shape", tool("needsSettings: true"), "settings: expected a schema, because"],
  ["runs nowhere", tool('execution: "Server"'), "execution: expected one of server, client, either"],
  [
    "fills the wait with nothing",
    tool('filler: ["One moment.", " "]'),
    "filler: expected a non-empty string or a list of them",
  ],
  ["fills the wait from an empty list", tool("filler: []"), "filler: expected a non-empty string or a list of them"],
  ["fills the wait at no time", tool("fillerAfterMs: -1"), "fillerAfterMs: expected an integer from 0 to 600000"],
  ["gives notice at no time", tool("noticeAfterMs: 0"), "noticeAfterMs: expected an integer from 1 to 600000"],
  ["starts oddly", tool('startWhen: "soon"'), "startWhen: expected one of turn_confirmed, words_spoken"],
  ["is oddly in the background", tool('background: "yes"'), "background: expected true or false"],
  ["allows edits by a text", tool('allowEditedInput: "false"'), "allowEditedInput: expected true or false"],
  ["is read-only by a text", tool('readOnly: "no"'), "readOnly: expected true or false"],
  ["is interruptible by a text", tool('interruptible: "no"'), "interruptible: expected true or false"],
  ["reports oddly", tool('onResult: "later"'), "onResult: expected one of speak, wait, silent"],
  ["is interrupted oddly", tool('onInterrupt: "wait"'), "onInterrupt: expected one of finish, cancel, block"],
])("a file that %s stops the start with an error that contains its path", async (_, text, why) => {
  await write({ "group/bad.ts": text });

  const loading = loadTools(folder);
  await expect(loading).rejects.toMatchObject({ code: "invalid_config" });
  await expect(loading).rejects.toThrow(`${join(folder, "group/bad.ts")}: ${why}`);
});

test("two files with one name stop the start, even if only a dash differs", async () => {
  await write({ "a/look-up.ts": tool(), "b/look_up.ts": tool() });

  await expect(loadTools(folder)).rejects.toThrow(
    `${join(folder, "b/look_up.ts")}: the tool name "look_up" is already taken by ${join(folder, "a/look-up.ts")}`,
  );
});

test("a name that the model cannot use stops the start", async () => {
  await write({ "grüße.ts": tool() });

  await expect(loadTools(folder)).rejects.toThrow("does not match");
});

test("settings are validated by the tool's own schema, and the error contains the field", async () => {
  await write({ "a.ts": `import { z } from "zod"; ${tool("settings: z.object({ key: z.string() })")}` });

  await expect(loadTools(folder)).rejects.toThrow(/a\.ts: toolSettings\.a: /);
  await expect(loadTools(folder, { a: { key: 1 } })).rejects.toThrow(/toolSettings\.a\.key: /);
  expect((await loadTools(folder, { a: { key: "k" } })).size).toBe(1);
});

test("settings for a tool that has none, or does not exist, stop the start", async () => {
  await write({ "a.ts": tool() });

  await expect(loadTools(folder, { a: {} })).rejects.toThrow("toolSettings.a: this tool has no settings");
  await expect(loadTools(folder, { b: {} })).rejects.toThrow('toolSettings.b: there is no tool "b"');
});

test("a tool may be named like an object's own method", async () => {
  await write({ "toString.ts": tool() });

  expect([...(await loadTools(folder)).keys()]).toEqual(["toString"]);
});

test("a tool that needs settings is off without them", async () => {
  const needs = tool("needsSettings: true, settings: z.strictObject({ key: z.string() })");
  await write({ "a.ts": `import { z } from "zod";${needs}`, "b.ts": tool() });

  expect([...(await loadTools(folder)).keys()]).toEqual(["b"]);
  expect([...(await loadTools(folder, { a: { key: "k" } })).keys()]).toEqual(["a", "b"]);
  await expect(loadTools(folder, { a: {} })).rejects.toThrow(/toolSettings\.a\.key: /);
});

test("tools that share settings are off without them", async () => {
  const shared = tool('sharedSettings: "workspace", settings: z.strictObject({ root: z.string() })');
  const source = `import { z } from "zod";${shared}`;
  await write({ "a.ts": source, "b.ts": source, "c.ts": tool() });

  expect([...(await loadTools(folder)).keys()]).toEqual(["c"]);
  expect([...(await loadTools(folder, { workspace: { root: "/" } })).keys()]).toEqual(["a", "b", "c"]);
  await expect(loadTools(folder, { workspace: { rot: "/" } })).rejects.toThrow(/toolSettings\.workspace\.root: /);
  await expect(loadTools(folder, { a: { root: "/" } })).rejects.toThrow('toolSettings.a: there is no tool "a"');
});

test("a type declaration next to the tools is not a tool", async () => {
  await write({ "dice.ts": tool(), "shop.d.ts": "export interface Shop { readonly name: string }" });

  expect([...(await loadTools(folder)).keys()]).toEqual(["dice"]);
});
