import { agentFields, agentSchema, type AgentSettings, BUILT_IN_TOOLS } from "../../agent/agent-fields.ts";
import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import type { ModelSettings } from "../../agent/model-fields.ts";
import { cleanJson } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Model } from "../../llm/stream-message.ts";
import { matchPattern } from "../../permission/match-pattern.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import { FallbackModels, type ListedModel } from "../../session/model/fallback-models.ts";
import { createCountTokens, createOpenStream, type ModelServerAddress } from "../../session/model/open-stream.ts";
import type { ConfigFileValues } from "../config-file.ts";

/** Where a model is called, and with which key. */
export type ModelPlace = Pick<ModelSettings, "baseUrl" | "key">;

interface Serving {
  /** Calls the worker's own model. */
  readonly client: Model;
  /** Returns a client for a model with a place of its own. @defaultValue `client` */
  readonly clientAt?: (place: ModelPlace) => Model;
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
  const { tools: patterns, model: own, names = [usualName(name)], ...rest } = settings;
  // The key of parley.config.ts is meant for the address there.
  const hasOwnPlace = own.baseUrl !== undefined || own.key !== undefined;
  const place = hasOwnPlace ? { baseUrl: undefined, key: undefined } : {};
  const { fallbacks = [], ...first } = { ...serving.model, ...place, ...own };
  const { serverTools } = first;
  const model = toListedModel(first, serving);
  const models =
    fallbacks.length === 0
      ? model
      : new FallbackModels([model, ...fallbacks.map((each) => toListedModel(each, serving))]);
  return {
    ...rest,
    name,
    names,
    model: model.name,
    openStream: models.openStream,
    countTokens: models.countTokens,
    serverToolBytes: Buffer.byteLength(JSON.stringify(serverTools)),
    mayUse: (tool) => !patterns || BUILT_IN_TOOLS.includes(tool) || patterns.some((each) => matchPattern(each, tool)),
  };
}

function toListedModel(settings: ModelSettings, serving: Serving): ListedModel {
  const { name, maxTokens, thinking, effort, serverTools, baseUrl, key } = settings;
  const { inlineTools = false, edits = [], clientAt } = serving;
  const hasPlace = baseUrl !== undefined || key !== undefined;
  const client = hasPlace && clientAt ? clientAt(settings) : serving.client;
  const fixed = {
    model: name,
    maxTokens,
    inlineTools,
    edits: edits.map((edit) => cleanJson(edit) as JsonObject),
    serverTools: serverTools.map((tool) => cleanJson(tool) as JsonObject),
    ...(thinking !== undefined && { thinking: toThinking(thinking) }),
    ...(effort !== undefined && { effort }),
    ...(baseUrl !== undefined && { server: serverOf(baseUrl) }),
  };
  return {
    name,
    label: labelOf(name, settings),
    openStream: createOpenStream(client, fixed),
    countTokens: createCountTokens(client, fixed),
  };
}

interface Keys {
  /** The key of the worker's own model. */
  readonly apiKey: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

/** Returns the key for a place, if it has one. The worker's own key is sent only to the worker's own model. */
export function keyAt({ baseUrl, key }: ModelPlace, { apiKey, env }: Keys): string | undefined {
  if (key !== undefined) return env?.[key] || undefined;
  return baseUrl === undefined ? apiKey : undefined;
}

/** Returns a model's name, with its address and the name of its key if it has its own: `claude-sonnet-5-5 (gw.example)`. */
export function labelOf(name: string, { baseUrl, key }: ModelPlace): string {
  const place = [...(baseUrl === undefined ? [] : [new URL(baseUrl).host]), ...(key === undefined ? [] : [key])];
  return place.length === 0 ? name : `${name} (${place.join(", ")})`;
}

/** Returns the address of a model API, for spans. */
export function serverOf(baseUrl = "https://api.anthropic.com"): ModelServerAddress {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { address: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

function usualName(name: string): string {
  return name === DEFAULT_AGENT ? "Parley" : name.replaceAll(/[_-]/gu, " ");
}

function toThinking(thinking: NonNullable<ConfigFileValues["model"]["thinking"]>) {
  if (thinking === "adaptive") return { type: "adaptive" } as const;
  return { type: "enabled", budgetTokens: thinking.budgetTokens } as const;
}
