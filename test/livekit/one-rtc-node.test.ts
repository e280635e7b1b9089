import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkOneRtcNode } from "../../src/livekit/one-rtc-node.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-copies-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function install(...path: readonly string[]): Promise<string> {
  const place = join(folder, ...path);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, "package.json"), JSON.stringify({ main: "index.js" }));
  await writeFile(join(place, "index.js"), "");
  return place;
}

const check = () => checkOneRtcNode(pathToFileURL(join(folder, "worker.ts")).href);

test("F39: two copies of rtc-node are refused, with their paths and what to do", async () => {
  await install("node_modules/@livekit/agents");
  const own = await install("node_modules/@livekit/rtc-node");
  const other = await install("node_modules/@livekit/agents/node_modules/@livekit/rtc-node");

  expect(check).toThrow(
    new RegExp(`Two copies of @livekit/rtc-node[^]*${own}\n${other}\n[^]*npm ls @livekit/rtc-node`),
  );
});

test("one copy is fine, even if packages are links", async () => {
  const agents = await install("store/agents/node_modules/@livekit/agents");
  const rtcNode = await install("store/rtc/node_modules/@livekit/rtc-node");
  await mkdir(join(folder, "node_modules/@livekit"), { recursive: true });
  await symlink(agents, join(folder, "node_modules/@livekit/agents"));
  await symlink(rtcNode, join(folder, "node_modules/@livekit/rtc-node"));
  await symlink(rtcNode, join(folder, "store/agents/node_modules/@livekit/rtc-node"));

  expect(check).not.toThrow();
});

test("the copy installed here is fine", () => {
  expect(() => checkOneRtcNode()).not.toThrow();
});
