import type * as RtcNode from "@livekit/rtc-node";

/**
 * Loads @livekit/rtc-node with its log on stderr. Its pino picks `process.stdout` while it loads, and logs each step
 * outside of production. Checked with @livekit/rtc-node 0.13.35.
 */
export async function loadRtcNode(): Promise<typeof RtcNode> {
  process.env["NODE_ENV"] ??= "production";
  const stdout = Object.getOwnPropertyDescriptor(process, "stdout");
  Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
  try {
    return await import("@livekit/rtc-node");
  } finally {
    if (stdout) Object.defineProperty(process, "stdout", stdout);
  }
}
