import { readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { expect, test } from "vitest";
import bash from "../../tools/workspace/bash.ts";
import read from "../../tools/workspace/read.ts";
import { runTool } from "../tools/run-tool.ts";
import { TempWorkspace } from "../tools/workspace/temp-workspace.ts";

const doc = readFileSync(new URL("../../docs/tools.md", import.meta.url), "utf8");
const [, table = ""] = doc.split("| the path | message |\n|---|---|\n");
const rows = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| [^|]+ \| `(.+)` \|$/gm)].map(
  ([, message = ""]) => message,
);

const PATHS: Readonly<Record<string, readonly string[]>> = {
  "The path is outside the workspace": ["../outside/secret.txt", "out"],
  "The path is absolute: expected one relative to the workspace's root": ["/etc/passwd"],
  "The path contains a NUL character": ["a\0.txt"],
  'There is no "x" in the workspace': ["x"],
  "The path is the workspace itself, which is a folder": ["."],
  "A part of the path is not a folder": ["notes/a.txt/b"],
  "The path is a broken or circular link": ["circle"],
  "The path is too long": ["x".repeat(300)],
  "The path is a folder": ["notes"],
  "The path is not a regular file": ["pipe"],
};

test("the tools page has the path errors that a tool returns, word for word", async () => {
  await using workspace = await TempWorkspace.create({ "notes/a.txt": "a" });
  await symlink("../outside/secret.txt", workspace.at("out"));
  await symlink("circle", workspace.at("circle"));
  await runTool(bash, { command: "mkfifo pipe" }, workspace);

  expect(rows).toEqual(Object.keys(PATHS));
  for (const [message, paths] of Object.entries(PATHS))
    for (const path of paths) await expect(runTool(read, { path }, workspace)).rejects.toThrow(message);
});
