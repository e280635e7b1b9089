import { createRequire } from "node:module";
import { dirname } from "node:path";
import { AppError } from "../errors/app-error.ts";

const RTC_NODE = "@livekit/rtc-node";

/**
 * Refuses to start with two copies of rtc-node, ours and one of @livekit/agents: each has its own native library, and
 * neither knows the other's rooms. npm installs a second copy when the versions that are asked for do not agree.
 * Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
 *
 * @param from a module's URL: whose copies are looked for
 * @throws {AppError} `invalid_config` naming both places
 */
export function checkOneRtcNode(from: string = import.meta.url): void {
  const require = createRequire(from);
  const own = require.resolve(RTC_NODE);
  const ofAgents = createRequire(require.resolve("@livekit/agents")).resolve(RTC_NODE);
  if (own === ofAgents) return;
  const places = [own, ofAgents].map((file) => dirname(file)).join("\n");
  throw new AppError(
    "invalid_config",
    `Two copies of ${RTC_NODE} are installed, and rooms of one are unknown to the other:\n${places}\n` +
      `Ask for the version that @livekit/agents asks for, then install again (npm ls ${RTC_NODE})`,
  );
}
