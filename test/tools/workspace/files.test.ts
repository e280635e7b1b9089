import { chmod, readFile, readdir, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import edit from "../../../tools/workspace/edit.ts";
import glob from "../../../tools/workspace/glob.ts";
import read from "../../../tools/workspace/read.ts";
import write from "../../../tools/workspace/write.ts";
import { workspaceSettings } from "../../../tools/workspace/_settings.ts";
import { runTool } from "../run-tool.ts";
import { TempWorkspace } from "./temp-workspace.ts";

/** Runs a tool, and returns its answer with the lines it logged. */
async function logged(tool: Parameters<typeof runTool>[0], input: object, workspace: TempWorkspace) {
  const lines: string[] = [];
  const { settings } = workspace;
  const answer = await runTool(tool, input, { settings, log: (line) => void lines.push(line) });
  return { answer, lines };
}

test("read returns lines from an offset, and shows them as it proceeds", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": "one\ntwo\r\nthree\n" });

  const { answer, lines } = await logged(read, { path: "a.txt", offset: 2, limit: 1 }, workspace);

  expect(answer).toEqual({
    path: "a.txt",
    content: "two",
    offset: 2,
    lineCount: 1,
    totalLines: 3,
    truncated: true,
  });
  expect(lines).toEqual(["two"]);
});

test("lines that do not fit are left out, and a long line is truncated", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": `${"x".repeat(5_000)}\n`.repeat(100) });

  const answer = (await runTool(read, { path: "a.txt" }, workspace)) as { content: string; truncated: boolean };

  expect(answer.content.length).toBeLessThan(81_000);
  expect(answer.truncated).toBe(true);
  expect(answer.content.split("\n")[0]).toBe(`${"x".repeat(2_000)}… [cut]`);
});

test("an empty file has no lines; a file that is not text, too large or missing is an error", async () => {
  const files = { "empty.txt": "", "image.png": "a\0b", "large.txt": "x".repeat(5_000_001) };
  await using workspace = await TempWorkspace.create(files);

  expect(await runTool(read, { path: "empty.txt" }, workspace)).toMatchObject({ content: "", totalLines: 0 });
  await expect(runTool(read, { path: "image.png" }, workspace)).rejects.toThrow("The file is not text");
  await expect(runTool(read, { path: "large.txt" }, workspace)).rejects.toThrow("at most 5000000 can be read");
  await expect(runTool(read, { path: "no/b.txt" }, workspace)).rejects.toThrow(
    'There is no "no/b.txt" in the workspace',
  );
});

test("write creates parent folders and leaves nothing else behind", async () => {
  await using workspace = await TempWorkspace.create();

  const { answer, lines } = await logged(write, { path: "a/b/c.txt", content: "né" }, workspace);

  expect(answer).toEqual({ path: "a/b/c.txt", sizeBytes: 3 });
  expect(lines).toEqual(["wrote a/b/c.txt, 3 bytes"]);
  expect(await readFile(workspace.at("a/b/c.txt"), "utf8")).toBe("né");
  expect(await readdir(workspace.at("a/b"))).toEqual(["c.txt"]);
});

test("a file that is overwritten keeps its mode", async () => {
  await using workspace = await TempWorkspace.create({ "run.sh": "old" });
  await chmod(workspace.at("run.sh"), 0o750);

  await runTool(write, { path: "run.sh", content: "new" }, workspace);

  expect((await stat(workspace.at("run.sh"))).mode & 0o777).toBe(0o750);
});

test("edit replaces the only match, with the new text unchanged", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": "one two three" });

  const change = { path: "a.txt", oldString: "two", newString: "$& \\1" };
  const { answer, lines } = await logged(edit, change, workspace);

  expect(answer).toEqual({ path: "a.txt", replaced: 1 });
  expect(lines).toEqual(["- two", "+ $& \\1"]);
  expect(await readFile(workspace.at("a.txt"), "utf8")).toBe("one $& \\1 three");
});

test("edit refuses a text that is missing or not unique, and replaces all on request", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": "x x x" });
  const change = { path: "a.txt", oldString: "x", newString: "y" };

  await expect(runTool(edit, change, workspace)).rejects.toThrow("oldString is in the file 3 times");
  await expect(runTool(edit, { ...change, oldString: "z" }, workspace)).rejects.toThrow("oldString is not in the file");
  expect(await readFile(workspace.at("a.txt"), "utf8")).toBe("x x x");

  expect(await runTool(edit, { ...change, replaceAll: true }, workspace)).toMatchObject({ replaced: 3 });
  expect(await readFile(workspace.at("a.txt"), "utf8")).toBe("y y y");
});

test("simultaneous edits of one file all take effect", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": "1 2 3 4 5" });
  const digits = ["1", "2", "3", "4", "5"];

  await Promise.all(digits.map((oldString) => runTool(edit, { path: "a.txt", oldString, newString: "x" }, workspace)));

  expect(await readFile(workspace.at("a.txt"), "utf8")).toBe("x x x x x");
});

test("a write whose call has ended before its turn came is skipped", async () => {
  await using workspace = await TempWorkspace.create();
  const { settings } = workspace;

  const call = { settings, signal: AbortSignal.abort(new Error("The call has ended")) };
  await expect(runTool(write, { path: "a.txt", content: "x" }, call)).rejects.toThrow("The call has ended");

  expect(await readdir(workspace.root)).toEqual([]);
});

test("glob finds files by pattern in order, hidden ones too, without .git and node_modules", async () => {
  const files = { "b.ts": "", "a.ts": "", "src/x/c.ts": "", "src/d.md": "", ".env.ts": "", ".git/e.ts": "" };
  await using workspace = await TempWorkspace.create({ ...files, "node_modules/f.ts": "" });

  const { answer, lines } = await logged(glob, { pattern: "./**/*.ts" }, workspace);

  expect(answer).toEqual({ paths: [".env.ts", "a.ts", "b.ts", "src/x/c.ts"], truncated: false });
  expect(lines).toEqual([".env.ts", "a.ts", "b.ts", "src/x/c.ts"]);
  expect(await runTool(glob, { pattern: "src/*.{md,txt}" }, workspace)).toMatchObject({ paths: ["src/d.md"] });
  expect(await runTool(glob, { pattern: "**", limit: 2 }, workspace)).toMatchObject({ truncated: true });
});

test("a root that is not a folder is refused, and the error contains the field", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": "" });

  for (const root of [workspace.at("a.txt"), workspace.at("missing")]) {
    const parsed = workspaceSettings.safeParse({ root });
    expect(parsed.error?.issues).toMatchObject([{ path: ["root"], message: "expected a folder that exists" }]);
  }
});
