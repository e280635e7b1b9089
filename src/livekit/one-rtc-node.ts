import { createRequire } from "node:module";
import { dirname } from "node:path";
import { AppError } from "../errors/app-error.ts";

const RTC_NODE = "@livekit/rtc-node";

/**
 * Throws if rtc-node is installed twice, once for Parley and once for @livekit/agents. Each copy has its own native
 * library and cannot use the other's rooms. npm installs a second copy if Parley and @livekit/agents require
 * incompatible versions. Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
 *
 * @param from URL of the module from which both packages are resolved
 * @throws {AppError} `invalid_config` naming both folders
 */
export function checkOneRtcNode(from: string = import.meta.url): void {
  const require = createRequire(from);
  const own = require.resolve(RTC_NODE);
  const ofAgents = createRequire(require.resolve("@livekit/agents")).resolve(RTC_NODE);
  if (own === ofAgents) return;
  const places = [own, ofAgents].map((file) => dirname(file)).join("\n");
  throw new AppError(
    "invalid_config",
    `Two copies of ${RTC_NODE} are installed, and rooms of one copy do not work with the other:\n${places}\n` +
      `Set the version that @livekit/agents requires, then reinstall (npm ls ${RTC_NODE})`,
  );
}
