import type { SessionPolicy } from "../../session/session-policy.ts";
import type { ConfigFileValues } from "../config-file.ts";

/** Returns the part of the configuration that a session needs, without keys and addresses. */
export function toPolicy(config: ConfigFileValues): SessionPolicy {
  const { model, maxSteps, toolTimeoutMs, toolResultMaxBytes, onNewMessage, permission, phrases, toolDetail } = config;
  const { budget, prices, state } = config;
  const { speculate: speculates } = config.voice;
  const limits = { maxSteps, toolTimeoutMs, toolResultMaxBytes, budget, prices, state };
  const context = { ...config.context, instructionBytes: 0 };
  return { model: model.name, ...limits, onNewMessage, permission, phrases, toolDetail, context, speculates };
}
