import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { TempWorkspace } from "./temp-workspace.ts";

const PROGRAM = fileURLToPath(new URL("../../support/processes/command-process.ts", import.meta.url));

/** Runs the command in a separate process. Returns the first line of its output: the ids of the command's processes. */
async function start(command: string, workspace: TempWorkspace) {
  const parent = spawn(process.execPath, [PROGRAM, workspace.root, command], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
  return { parent, pids: line.split(" ").map(Number) };
}

const running = (pids: readonly number[]) => pids.filter((pid) => processStart(pid) !== undefined);

test.each(["SIGKILL", "SIGTERM"] as const)(
  "a command and everything it started end with its worker (%s)",
  async (signal) => {
    await using workspace = await TempWorkspace.create();
    const command = `sleep 600 & a=$!; (trap '' HUP TERM; sleep 600) & echo $$ $a $!; wait`;
    const { parent, pids } = await start(command, workspace);
    expect(running(pids)).toHaveLength(3);

    parent.kill(signal);

    await vi.waitFor(() => expect(running(pids)).toEqual([]), 2_000);
  },
);

test("a command that was stopped, or has ended part of its group, ends with a worker that is killed", async () => {
  await using workspace = await TempWorkspace.create();
  const command = `trap '' TERM; sleep 600 & echo $$ $!; kill -TERM 0; kill -STOP 0; wait`;
  const { parent, pids } = await start(command, workspace);

  parent.kill("SIGKILL");

  await vi.waitFor(() => expect(running(pids)).toEqual([]), 2_000);
});

test("a command that has ended leaves no watching process behind", async () => {
  await using workspace = await TempWorkspace.create();
  const { parent, pids } = await start("echo $$", workspace);

  expect(await once(parent, "exit")).toEqual([0, null]);
  expect(running(pids)).toEqual([]);
});
