import type * as RtcNode from "@livekit/rtc-node";
import { keepNativeLogOut } from "./native-log.ts";

/**
 * Loads @livekit/rtc-node with its log on stderr. Its pino logger captures `process.stdout` while it loads, and logs
 * each step unless NODE_ENV is `production`. Checked with @livekit/rtc-node 0.13.35.
 */
export function loadRtcNode(): Promise<typeof RtcNode> {
  return (loading ??= load());
}

/** Loaded only once: two concurrent loads would each restore the stdout that the other had replaced. */
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
