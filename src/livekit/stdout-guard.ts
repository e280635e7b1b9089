// Imported before everything else: in the main process directly, in job processes through `process.execArgv`.

import { keepNativeLogOut } from "./native-log.ts";

// @livekit/agents and @livekit/rtc-node log to `process.stdout` and have no setting for it, but the worker's stdout
// must contain only the line of `--json`. Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
/** NODE_ENV as the worker's environment sets it. */
export const givenNodeEnv = process.env["NODE_ENV"];
// With any other value, @livekit/rtc-node logs each of its steps.
process.env["NODE_ENV"] ??= "production";
// Ctrl-C in a terminal also signals job processes, and would kill one that is starting. The worker stops them itself.
if (process.send !== undefined) process.on("SIGINT", () => {});
keepNativeLogOut();
