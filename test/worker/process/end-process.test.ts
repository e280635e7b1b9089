import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { endProcess } from "../../../src/worker/process/end-process.ts";
import { processStart } from "../../../src/worker/process/running-processes.ts";

test("a program that leads a group is ended with the child process that it leaves behind", async () => {
  const leader = spawn("sh", ["-c", "sleep 60 & echo $!; wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(leader.stdout, "data")) as [Buffer];
  const child = Number(line.toString());
  expect(processStart(child)).toBeDefined();

  await endProcess(Number(leader.pid), { signals: ["SIGTERM"], graceMs: 1_000 });

  expect(processStart(child)).toBeUndefined();
});
