import { readFile, readdir, symlink } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import bash from "../../../tools/workspace/bash.ts";
import { evaluateRules } from "../../../src/permission/evaluate-rules.ts";
import type { PermissionRule } from "../../../src/permission/rule.ts";
import { toOperations } from "../../../src/permission/to-operations.ts";
import { permissionNeed } from "../../../src/tool/permission-need.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import { runTool, type Call } from "../run-tool.ts";
import { TempWorkspace } from "./temp-workspace.ts";

interface Answer {
  readonly exitCode: number | null;
  readonly endedBy: string | null;
  readonly output: string;
  readonly truncated: boolean;
}

const run = async (command: string, workspace: TempWorkspace, call: Call = {}) =>
  (await runTool(bash, { command }, { settings: workspace.settings, ...call })) as Answer;

/** The processes with this text in their command line, except for zombies. */
async function processesWith(mark: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = (path: string) => readFile(path, "utf8").catch(() => "");
  const lines = await Promise.all(ids.map(async (id) => ({ id, line: await read(`/proc/${id}/cmdline`) })));
  return lines.filter(({ line }) => line.includes(mark)).map(({ id }) => id);
}

/** A duration that no other process sleeps for. */
const mark = () => `${600 + Math.random()}`;

test("a command runs in the root, and returns its output and exit code", async () => {
  await using workspace = await TempWorkspace.create({ "a.txt": "hello" });

  expect(await run("pwd; cat a.txt; echo; echo oops >&2; exit 3", workspace)).toEqual({
    exitCode: 3,
    endedBy: null,
    output: expect.stringContaining(`${workspace.root}\nhello\n`),
    truncated: false,
  });
});

test("its output is shown line by line while it runs", async () => {
  await using workspace = await TempWorkspace.create();
  const lines: string[] = [];

  const ended = run("echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; printf three", workspace, {
    log: (line) => void lines.push(line),
  });
  await vi.waitFor(() => expect(lines.toSorted()).toEqual(["one", "two"]), 5_000);
  await run("touch go", workspace);
  await ended;

  expect(lines.at(-1)).toBe("three");
});

test("it gets no secrets from the worker's environment", async () => {
  await using workspace = await TempWorkspace.create();
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");
  vi.stubEnv("DATABASE_URL", "postgres://secret");

  const { output } = await run("env", workspace);

  vi.unstubAllEnvs();
  expect(output).not.toContain("secret");
  // Commands must have another home folder: otherwise, tools that write files could change a program's configuration
  // there.
  expect(output).not.toContain(`HOME=${workspace.root}`);
  const names = output.split("\n").map((line) => line.split("=")[0] ?? "");
  const allowed = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TERM", "PWD", "OLDPWD", "SHLVL", "_", ""];
  expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
});

test("when the call ends, the command and everything it started end", async () => {
  await using workspace = await TempWorkspace.create();
  const controller = new AbortController();
  const [child, grandchild] = [mark(), mark()];
  const command = `sleep ${child} & bash -c 'sleep ${grandchild} & wait' & wait`;
  const ended = run(command, workspace, { signal: controller.signal });
  await vi.waitFor(async () => expect(await processesWith(grandchild)).not.toEqual([]), 5_000);

  controller.abort(new Error("The call has ended"));

  await expect(ended).rejects.toThrow("The call has ended");
  expect([...(await processesWith(child)), ...(await processesWith(grandchild))]).toEqual([]);
});

test("a process that ignores SIGTERM is killed", async () => {
  await using workspace = await TempWorkspace.create();
  const controller = new AbortController();
  const seconds = mark();
  const command = `trap '' TERM; (trap '' TERM; sleep ${seconds}; sleep ${seconds}) & echo on; wait; wait; sleep ${seconds}`;
  const lines: string[] = [];
  const ended = run(command, workspace, { signal: controller.signal, log: (line) => void lines.push(line) });
  await vi.waitFor(() => expect(lines).toEqual(["on"]), 5_000);

  controller.abort(new Error("The call has ended"));

  await expect(ended).rejects.toThrow("The call has ended");
  expect(await processesWith(seconds)).toEqual([]);
});

test("processes that a command leaves running are ended with it, and not waited for", async () => {
  await using workspace = await TempWorkspace.create();
  const seconds = mark();

  const { output } = await run(`sleep ${seconds} & echo done`, workspace);

  expect(output).toBe("done\n");
  await vi.waitFor(async () => expect(await processesWith(seconds)).toEqual([]));
});

test("for long output the start and the end are kept", async () => {
  await using workspace = await TempWorkspace.create();

  const { output, truncated } = await run("echo first; seq 1 100000; echo last", workspace);

  expect(truncated).toBe(true);
  expect(output.length).toBeLessThan(61_000);
  expect(output).toMatch(/^first\n1\n2\n[^]*\n\[\d+ bytes are left out here\]\n[^]*\n100000\nlast\n$/);
});

test("a command that writes endlessly is stopped", async () => {
  await using workspace = await TempWorkspace.create();

  const { endedBy, truncated } = await run("yes", workspace);

  expect(endedBy).toBe("more than 10000000 bytes of output");
  expect(truncated).toBe(true);
});

test("the operator's shell is used, and a missing one is an error", async () => {
  await using workspace = await TempWorkspace.create();
  const withShell = (shell: string[]) => run("echo hi", workspace, { settings: { root: workspace.root, shell } });

  expect(await withShell(["sh", "-c", 'echo "$0 is boxed"'])).toMatchObject({ output: "echo hi is boxed\n" });
  await expect(withShell(["no-such-shell"])).rejects.toThrow("The command could not be started");
});

test.each([
  ["echo x > notes/key", "allow"],
  ["cat < notes/key", "allow"],
  // The line is asked about even if no link is involved, because a script may change to another folder.
  ["bash -c 'echo x > ./notes/key'", "ask"],
])("a redirection through a link is also checked against the file that it leads to: %s", async (command, plain) => {
  await using workspace = await TempWorkspace.create({ "secrets/key": "x", "plain/key": "x" });
  await symlink("secrets", workspace.at("notes"));
  const tool = toServerTool("bash", bash, workspace.settings);
  const rules: PermissionRule[] = [
    { type: "bash", pattern: "*", action: "allow" },
    { type: "*", pattern: "secrets/**", action: "deny" },
  ];
  const judged = (line: string) => evaluateRules(toOperations(permissionNeed(tool, { command: line })), rules);

  expect(judged(command)).toBe("deny");
  expect(judged(command.replace("notes", "plain"))).toBe(plain);
});
