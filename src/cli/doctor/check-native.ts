import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { checkOneRtcNode } from "../../livekit/one-rtc-node.ts";
import { type Finding, missing, ok } from "./finding.ts";

const HOW = "reinstall on the machine that will run it: rm -rf node_modules package-lock.json && npm install";

/** Checks LiveKit's native library. Other checks import the library and cannot run without it. */
export async function checkNative(): Promise<Finding> {
  try {
    checkOneRtcNode();
    await loadRtcNode();
    return ok("LiveKit's native library");
  } catch (error) {
    // Show only the message, because the cause lists every file that was tried.
    const why = error instanceof Error ? error.message : String(error);
    return missing(`LiveKit's native library: ${why}`, `${HOW}. Then run the doctor again: it stopped here`);
  }
}
