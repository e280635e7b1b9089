import { agentFields, agentSchema, type AgentSettings, BUILT_IN_TOOLS } from "../../agent/agent-fields.ts";
import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import { cleanJson } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Model } from "../../llm/stream-message.ts";
import { matchPattern } from "../../permission/match-pattern.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import { createCountTokens, createOpenStream } from "../../session/model/open-stream.ts";
import type { ConfigFileValues } from "../config-file.ts";

interface Serving {
  readonly client: Model;
  /** The `model` of parley.config.ts. */
  readonly model: ConfigFileValues["model"];
  /** @defaultValue false */
  readonly inlineTools?: boolean;
  /** Anthropic's context edits. @defaultValue none */
  readonly edits?: ConfigFileValues["context"]["edits"];
}

type Own = Exclude<keyof typeof agentFields, "instructions">;
type DefaultAgentFields = Pick<ConfigFileValues, "instructions"> & Partial<Pick<ConfigFileValues, Own>>;

/**
 * Returns the agent defined in parley.config.ts. It has no model, voice or rules of its own, because the config's
 * model, voice and rules apply to all agents.
 */
export function serveDefaultAgent(config: DefaultAgentFields, serving: Serving): ServedAgent {
  const said = Object.keys(agentFields).filter((name) => name in config);
  const own = Object.fromEntries(said.map((name) => [name, config[name as keyof DefaultAgentFields]]));
  return serveAgent(DEFAULT_AGENT, agentSchema.parse(own), serving);
}

export function serveAgent(name: string, settings: AgentSettings, serving: Serving): ServedAgent {
  const { client, model: base, inlineTools = false, edits = [] } = serving;
  const { tools: patterns, model: own, names = [usualName(name)], ...rest } = settings;
  const { name: model, maxTokens, thinking, effort, serverTools } = { ...base, ...own };
  const fixed = {
    model,
    maxTokens,
    inlineTools,
    edits: edits.map((edit) => cleanJson(edit) as JsonObject),
    serverTools: serverTools.map((tool) => cleanJson(tool) as JsonObject),
    ...(thinking !== undefined && { thinking: toThinking(thinking) }),
    ...(effort !== undefined && { effort }),
  };
  return {
    ...rest,
    name,
    names,
    model,
    openStream: createOpenStream(client, fixed),
    countTokens: createCountTokens(client, fixed),
    serverToolBytes: Buffer.byteLength(JSON.stringify(serverTools)),
    mayUse: (tool) => !patterns || BUILT_IN_TOOLS.includes(tool) || patterns.some((each) => matchPattern(each, tool)),
  };
}

function usualName(name: string): string {
  return name === DEFAULT_AGENT ? "Parley" : name.replaceAll(/[_-]/gu, " ");
}

function toThinking(thinking: NonNullable<ConfigFileValues["model"]["thinking"]>) {
  if (thinking === "adaptive") return { type: "adaptive" } as const;
  return { type: "enabled", budgetTokens: thinking.budgetTokens } as const;
}
