import { rename, rm, symlink, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Action, PermissionRule } from "../../../src/permission/rule.ts";
import { judgeCall } from "../../../src/session/permission/judge-call.ts";
import { permissionNeed } from "../../../src/tool/permission-need.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import type { Tool } from "../../../src/tool/define-tool.ts";
import edit from "../../../tools/workspace/edit.ts";
import read from "../../../tools/workspace/read.ts";
import write from "../../../tools/workspace/write.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";
import { runTool } from "../run-tool.ts";
import { TempWorkspace } from "./temp-workspace.ts";

const TOOLS = { read, write, edit };
const RULES: readonly PermissionRule[] = [
  { type: "*", pattern: "**", action: "allow" },
  { type: "*", pattern: "**/.env", action: "deny" },
  { type: "*", pattern: "app/[id]/**", action: "deny" },
  { type: "*", pattern: "kept", action: "ask" },
];

const needOf = (workspace: TempWorkspace, tool: Tool, path: string) =>
  permissionNeed({ ...toServerTool("it", tool, workspace.settings) }, { path });
const judged = (workspace: TempWorkspace, tool: Tool, path: string): Action =>
  judgeCall("it", needOf(workspace, tool, path), RULES);

/** A workspace with a secret file, and links to that file from other places. */
async function guardedWorkspace(): Promise<TempWorkspace> {
  const files = { ".env": "key", "a/.env": "key", "a/b/c.md": "c", "app/[id]/page": "p", kept: "k" };
  const workspace = await TempWorkspace.create(files);
  const links = [
    [".env", "plain"],
    ["plain", "second"],
    ["../../.env", "a/b/up"],
    ["a", "folder"],
    ["[id]", "app/linked"],
    ["loop-b", "loop-a"],
    ["loop-a", "loop-b"],
    ["../kept", "a/keep"],
  ] as const;
  for (const [target, path] of links) await symlink(target, workspace.at(path));
  return workspace;
}

test.each(Object.keys(TOOLS))("%s is denied a file under each of its names", async (name) => {
  await using workspace = await guardedWorkspace();
  const tool = TOOLS[name as keyof typeof TOOLS];
  const denied = [".env", "./.env", ".env/", "a/../.env", "a/./.env//", "plain", "second", "a/b/up", "folder/.env"];

  for (const path of [...denied, "app/[id]/page", "app/linked/page", "app/[id]"])
    expect([path, judged(workspace, tool, path)]).toEqual([path, "deny"]);
  for (const path of ["a/b/c.md", "folder/b/c.md", "new/file", "loop-a"])
    expect([path, judged(workspace, tool, path)]).toEqual([path, "allow"]);
});

test("a file is shown with its own name and the path that it leads to", async () => {
  await using workspace = await guardedWorkspace();

  expect(needOf(workspace, read, "./second/").values).toEqual(["second", "plain", ".env"]);
  expect(needOf(workspace, read, "kept").values).toEqual(["kept"]);
  expect(() => needOf(workspace, read, "a\0b")).toThrow("The path contains a NUL character");
});

test("a path that leads elsewhere by the time it is used is refused", async () => {
  await using workspace = await guardedWorkspace();
  const { settings } = workspace;
  const input = { path: "a/b/c.md", content: "x", oldString: "key", newString: "x" };
  for (const [name, { path, ...fields }] of Object.entries({
    read: { path: input.path },
    write: { path: input.path, content: input.content },
    edit: { path: input.path, oldString: input.oldString, newString: input.newString },
  })) {
    const tool = TOOLS[name as keyof typeof TOOLS];
    const permitted = needOf(workspace, tool, path).values;
    await rm(workspace.at(path));
    await symlink("../../.env", workspace.at(path));

    const run = runTool(tool, { path, ...fields }, { settings, permitted });

    await expect(run).rejects.toThrow("The path no longer leads where it led when permission was given");
    await rm(workspace.at(path));
    await writeFile(workspace.at(path), "c");
  }
});

test("the requested file is used, even behind a link or if nothing exists there yet", async () => {
  await using workspace = await guardedWorkspace();
  const { settings } = workspace;

  for (const path of ["new/deep/file", "folder/b/d.md", "./kept/"]) {
    const permitted = needOf(workspace, write, path).values;
    expect(await runTool(write, { path, content: "x" }, { settings, permitted })).toMatchObject({ sizeBytes: 1 });
  }
});

test("a parent folder that was moved away is noticed", async () => {
  await using workspace = await guardedWorkspace();
  const { settings } = workspace;
  const permitted = needOf(workspace, read, "a/b/c.md").values;
  await rename(workspace.at("a/b"), workspace.at("a/was-b"));
  await symlink("was-b", workspace.at("a/b"));

  await expect(runTool(read, { path: "a/b/c.md" }, { settings, permitted })).rejects.toThrow("no longer leads");
});

/** Changes the spelling of a path, but not where the path leads. */
const detour = fc.constantFrom(
  (path: string) => `./${path}`,
  (path: string) => `${path}/`,
  (path: string) => `${path}/.`,
  (path: string) => path.replace("/", "//"),
  (path: string) => path.replaceAll("/", "/./"),
  (path: string) => `a/../${path}`,
  (path: string) => `no/such/../../${path}`,
  (path: string) => `${path}/x/..`,
);
const SECRET = [".env", "a/.env", "plain", "second", "a/b/up", "folder/.env", "app/[id]/page", "app/linked/page"];

test("a denied path is denied in every spelling, and one that is asked about is asked about", async () => {
  await using workspace = await guardedWorkspace();
  const spelled = (paths: readonly string[]) =>
    fc
      .tuple(fc.constantFrom(...paths), fc.array(detour, { maxLength: 8 }))
      .map(([path, detours]) => detours.reduce((longer, change) => change(longer), path));
  const toolName = fc.constantFrom("read", "write", "edit");
  const options = { numRuns: propertyRuns(200), seed: propertySeed() };
  const expectAll = (paths: readonly string[], action: Action) => {
    const check = (path: string, name: keyof typeof TOOLS) => {
      expect(judged(workspace, TOOLS[name], path)).toBe(action);
    };
    fc.assert(fc.property(spelled(paths), toolName, check), options);
  };

  expectAll(SECRET, "deny");
  expectAll(["kept", "a/keep"], "ask");
});
