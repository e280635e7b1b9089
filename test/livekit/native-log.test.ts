import { expect, inject, test } from "vitest";
import { createToken } from "../support/participant.ts";
import { runNode, urlOf } from "./run-node.ts";

/** Returns a program that sets an attribute, and prints how many native log events have reached JavaScript. */
async function counting(load: string): Promise<string> {
  const token = await createToken("native-log", "listener");
  return `
    const { Room, dispose } = await ${load};
    const room = new Room();
    await room.connect("${inject("livekitUrl")}", "${token}", { autoSubscribe: false, dynacast: false });
    let events = 0;
    globalThis._ffiClientInstance.on("ffi_event", ({ message }) => (events += Number(message.case === "logs")));
    await room.localParticipant.setAttributes({ mood: "good" });
    await room.disconnect();
    await dispose();
    console.log(events);`;
}
const OURS = `(await import("${urlOf("src/livekit/load-rtc-node.ts")}")).loadRtcNode()`;
const GUARDED = ["--import", urlOf("src/livekit/stdout-guard.ts")];

test("no line of the native log reaches JavaScript, while rtc-node by default passes all of them on", async () => {
  const left = await runNode(await counting(`import("@livekit/rtc-node")`), { env: { NODE_ENV: "production" } });
  const loaded = await runNode(await counting(OURS));
  const guarded = await runNode(await counting(`import("@livekit/rtc-node")`), { args: GUARDED });

  expect(Number(left.stdout)).toBeGreaterThan(20);
  // The guard redirects stdout to stderr.
  expect([loaded.stdout, guarded.stderr]).toEqual(["0\n", "0\n"]);
});

test("the native log is written to stderr as RUST_LOG asks", async () => {
  const code = await counting(OURS);
  const asked = await runNode(code, { env: { RUST_LOG: "livekit=debug" } });
  const quiet = await runNode(code);

  expect(asked.stderr).toContain("DEBUG livekit::");
  expect(quiet.stderr).toBe("");
});
