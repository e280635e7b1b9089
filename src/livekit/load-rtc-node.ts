import type * as RtcNode from "@livekit/rtc-node";
import { keepNativeLogOut } from "./native-log.ts";

/**
 * Loads @livekit/rtc-node with its log on stderr: its pino takes `process.stdout` while it loads. Unless NODE_ENV is
 * `production` it logs each step. Checked with @livekit/rtc-node 0.13.35.
 */
export function loadRtcNode(): Promise<typeof RtcNode> {
  return (loading ??= load());
}

/** Once only: two loads at a time would each put back what the other has put in the place of stdout. */
let loading: Promise<typeof RtcNode> | undefined;

async function load(): Promise<typeof RtcNode> {
  process.env["NODE_ENV"] ??= "production";
  const stdout = Object.getOwnPropertyDescriptor(process, "stdout");
  Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
  try {
    keepNativeLogOut();
    return await import("@livekit/rtc-node");
  } finally {
    if (stdout) Object.defineProperty(process, "stdout", stdout);
  }
}
