import { setTimeout as sleep } from "node:timers/promises";
import { Room } from "@livekit/rtc-node";
import { connect } from "../../../src/client/index.ts";

/** A client process for a test to stop and continue. Its tool `scan` prints `ran`, and ends after 0.3 s. */
const [url = "", token = "", timeoutMs = ""] = process.argv.slice(2);
const room = new Room();
await room.connect(url, token, { autoSubscribe: false, dynacast: false });
const parley = await connect(room);
parley.registerTool({
  name: "scan",
  description: "Scans.",
  input: { type: "object" },
  scope: "room",
  timeoutMs: Number(timeoutMs),
  async run() {
    process.stdout.write("ran\n");
    await sleep(300);
    return { pages: 1 };
  },
});
await parley.whenConnected(10_000);
process.stdout.write("ready\n");
setInterval(() => {}, 60_000);
