import { type SessionPolicy } from "../../session/session-policy.ts";
import { type ConfigFileValues } from "../config-file.ts";

/** The part of the configuration that a session needs: no keys, no addresses. */
export function toPolicy(config: ConfigFileValues): SessionPolicy {
  const { model, maxSteps, toolTimeoutMs, toolResultMaxBytes, onNewMessage, permission, phrases, toolDetail } = config;
  const { budget, prices, memory } = config;
  const { speculate: speculates } = config.voice;
  const limits = { maxSteps, toolTimeoutMs, toolResultMaxBytes, budget, prices, memory };
  const instructionBytes = Buffer.byteLength(config.instructions + JSON.stringify(model.serverTools));
  const context = { ...config.context, instructionBytes };
  return { model: model.name, ...limits, onNewMessage, permission, phrases, toolDetail, context, speculates };
}
