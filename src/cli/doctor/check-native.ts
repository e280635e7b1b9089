import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { checkOneRtcNode } from "../../livekit/one-rtc-node.ts";
import { type Finding, missing, ok } from "./finding.ts";

const HOW = "install again, on the machine where it is to run: rm -rf node_modules package-lock.json && npm install";

/** LiveKit's native library. Other parts import it: without it they cannot be looked at. */
export async function checkNative(): Promise<Finding> {
  try {
    checkOneRtcNode();
    await loadRtcNode();
    return ok("LiveKit's native library");
  } catch (error) {
    // Its cause lists every file that was tried.
    const why = error instanceof Error ? error.message : String(error);
    return missing(`LiveKit's native library: ${why}`, `${HOW}. What else is missing is only known after that`);
  }
}
