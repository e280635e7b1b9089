import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { processesIn } from "../worker/support/run-main.ts";

const ROOM_SERVERS = resolve("src/testing/stage/room-servers.ts");

test.each([
  ["that is killed", "setInterval(() => {}, 1_000);", "SIGTERM"],
  ["that ends without closing them", "process.exit(0);", undefined],
] as const)("a program %s leaves no servers and no files", { timeout: 60_000 }, async (_what, rest, signal) => {
  await using folder = await tempFolder();
  const program = join(folder.path, "program.ts");
  await writeFile(
    program,
    `import { startRoomServers } from ${JSON.stringify(ROOM_SERVERS)};
     await startRoomServers();
     console.log("started");
     ${rest}`,
  );
  const env = { ...process.env, TMPDIR: folder.path, PARLEY_CACHE_DIR: resolve(".cache") };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  const errors = text(child.stderr);

  await Promise.race([once(child.stdout, "data"), exited]);
  if (signal) child.kill(signal);
  const ended = await exited;

  expect([ended, await errors]).toEqual([signal ? [null, signal] : [0, null], ""]);
  await expect.poll(() => processesIn(folder.path), { timeout: 10_000 }).toEqual([]);
  expect(await readdir(folder.path)).toEqual(["program.ts"]);
});
