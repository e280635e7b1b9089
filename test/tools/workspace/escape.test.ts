import { link, lstat, readFile, readdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Tool } from "../../../src/tool/define-tool.ts";
import bash from "../../../tools/workspace/bash.ts";
import edit from "../../../tools/workspace/edit.ts";
import glob from "../../../tools/workspace/glob.ts";
import read from "../../../tools/workspace/read.ts";
import write from "../../../tools/workspace/write.ts";
import { findEntry, Folder } from "../../../tools/workspace/_folder.ts";
import { runTool } from "../run-tool.ts";
import { TempWorkspace } from "./temp-workspace.ts";

const tools: Record<string, { readonly tool: Tool; readonly input: object }> = {
  read: { tool: read, input: {} },
  write: { tool: write, input: { content: "taken" } },
  edit: { tool: edit, input: { oldString: "secret", newString: "taken" } },
};

/** A workspace with every kind of link that leads outside. */
async function linkedWorkspace(): Promise<TempWorkspace> {
  const workspace = await TempWorkspace.create({ "notes/a.txt": "a" });
  await symlink(join(workspace.outside, "secret.txt"), workspace.at("file-link"));
  await symlink(workspace.outside, workspace.at("folder-link"));
  await symlink("folder-link", workspace.at("link-to-link"));
  await symlink("../outside/new.txt", workspace.at("dangling"));
  await symlink("../outside/new-folder", workspace.at("dangling-folder"));
  return workspace;
}

const ESCAPES = [
  "../outside/secret.txt",
  "notes/../../outside/secret.txt",
  "./notes/.././../outside/secret.txt",
  "file-link",
  "folder-link/secret.txt",
  "link-to-link/secret.txt",
  "notes/../folder-link/secret.txt",
  "../workspace-of-another/secret.txt",
];

test.each(Object.keys(tools).flatMap((name) => ESCAPES.map((path) => [name, path] as const)))(
  "%s does not reach %s",
  async (name, path) => {
    await using workspace = await linkedWorkspace();
    const { tool, input } = tools[name] ?? { tool: read, input: {} };

    await expect(runTool(tool, { ...input, path }, workspace)).rejects.toThrow("The path is outside the workspace");

    expect(await readFile(join(workspace.outside, "secret.txt"), "utf8")).toBe("secret");
  },
);

test.each(Object.keys(tools))("%s accepts no absolute path, not even one that leads inside", async (name) => {
  await using workspace = await linkedWorkspace();
  const { tool, input } = tools[name] ?? { tool: read, input: {} };

  for (const path of [join(workspace.outside, "secret.txt"), workspace.at("notes/a.txt"), "//etc/passwd"])
    await expect(runTool(tool, { ...input, path }, workspace)).rejects.toThrow("one relative to the workspace's root");
  await expect(findEntry(workspace.root, workspace.at("notes/a.txt"))).rejects.toThrow("The path is absolute");
});

test("a dangling link is not written through, as a file or as a folder on the way to one", async () => {
  await using workspace = await linkedWorkspace();

  await runTool(write, { path: "dangling", content: "inside" }, workspace);
  await expect(runTool(write, { path: "dangling-folder/x.txt", content: "x" }, workspace)).rejects.toThrow(
    "The path is outside the workspace",
  );

  expect(await readdir(workspace.outside)).toEqual(["secret.txt"]);
  expect((await lstat(workspace.at("dangling"))).isFile()).toBe(true);
});

test("links that lead to files inside are followed", async () => {
  await using workspace = await TempWorkspace.create({ "notes/a.txt": "a" });
  await symlink("notes", workspace.at("n"));

  expect(await runTool(read, { path: "n/a.txt" }, workspace)).toMatchObject({ path: "notes/a.txt", content: "a" });
});

test("writing does not change a hard-linked file elsewhere", async () => {
  await using workspace = await TempWorkspace.create();
  await link(join(workspace.outside, "secret.txt"), workspace.at("shared.txt"));

  await runTool(write, { path: "shared.txt", content: "mine" }, workspace);

  expect(await readFile(join(workspace.outside, "secret.txt"), "utf8")).toBe("secret");
});

test.runIf(process.platform === "linux")(
  "a folder that is replaced by a link during the work stays what it was",
  async () => {
    await using workspace = await TempWorkspace.create({ "notes/a.txt": "a" });
    await using folder = await Folder.open(workspace.root, workspace.at("notes"));

    await rename(workspace.at("notes"), workspace.at("moved"));
    await symlink(workspace.outside, workspace.at("notes"));

    expect(await readdir(folder.at("."))).toEqual(["a.txt"]);
    await expect(Folder.open(workspace.root, workspace.at("notes"))).rejects.toThrow(/ENOTDIR|ELOOP/);
  },
);

test("glob neither follows links nor lists what is outside", async () => {
  await using workspace = await linkedWorkspace();

  for (const pattern of ["**", "**/*", "*/secret.txt", "../**", "/**", "{..,notes}/**/*", "folder-link/*"]) {
    const { paths } = (await runTool(glob, { pattern }, workspace)) as { paths: string[] };
    expect(paths.filter((path) => path !== "notes/a.txt")).toEqual([]);
  }
});

test("a pipe, a folder and a path through a file are errors, and nothing is waited for", async () => {
  await using workspace = await TempWorkspace.create({ "notes/a.txt": "a" });
  await runTool(bash, { command: "mkfifo pipe" }, workspace);

  await expect(runTool(read, { path: "pipe" }, workspace)).rejects.toThrow("The path is not a regular file");
  await expect(runTool(write, { path: "pipe", content: "" }, workspace)).rejects.toThrow(
    "The path is not a regular file",
  );
  await expect(runTool(read, { path: "notes" }, workspace)).rejects.toThrow("The path is a folder");
  await expect(runTool(read, { path: "." }, workspace)).rejects.toThrow("is a folder");
  await expect(runTool(read, { path: "notes/a.txt/b" }, workspace)).rejects.toThrow(
    "A part of the path is not a folder",
  );
});

test("no error contains a path on the machine", async () => {
  await using workspace = await linkedWorkspace();
  const inputs = [
    "missing.txt",
    "missing/x.txt",
    "notes/a.txt/b",
    "notes",
    "file-link",
    "dangling",
    "a\0b",
    "x".repeat(300),
  ];

  for (const path of inputs) {
    const error = await runTool(read, { path }, workspace).then(String, (reason: Error) => reason.message);
    expect(error).not.toContain(workspace.folder);
    expect(error).not.toContain("/proc");
  }
});
