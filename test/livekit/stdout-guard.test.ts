import { expect, inject, test } from "vitest";
import { createToken } from "../support/participant.ts";
import { runNode, urlOf } from "./run-node.ts";

const AGENTS = `
  const { initializeLogger, log } = await import("@livekit/agents");
  initializeLogger({ pretty: false, level: "info" });
  log().info("a line");`;

test("with the guard @livekit/agents logs to stderr", async () => {
  const { stdout, stderr } = await runNode(AGENTS, { args: ["--import", urlOf("src/livekit/stdout-guard.ts")] });

  expect([stdout, stderr.includes("a line")]).toEqual(["", true]);
});

async function joining(load: string): Promise<string> {
  const token = await createToken("stdout", "logs");
  return `
    const { Room, dispose } = await ${load};
    const room = new Room();
    await room.connect("${inject("livekitUrl")}", "${token}", { autoSubscribe: false, dynacast: false });
    await room.disconnect();
    await dispose();`;
}
const LINE = "Connect callback received";

test("@livekit/rtc-node logs its steps to stdout, to stderr when we load it, and not at all in production", async () => {
  const ours = await joining(`(await import("${urlOf("src/livekit/load-rtc-node.ts")}")).loadRtcNode()`);
  const left = await runNode(await joining(`import("@livekit/rtc-node")`));
  const loaded = await runNode(ours, { env: { NODE_ENV: "development" } });
  const quiet = await runNode(ours);

  expect(left.stdout).toContain(LINE);
  expect([loaded.stdout, loaded.stderr.includes(LINE)]).toEqual(["", true]);
  expect([quiet.stdout, quiet.stderr.includes(LINE)]).toEqual(["", false]);
});
