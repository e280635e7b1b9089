import type { AgentSettings } from "../../agent/agent-fields.ts";
import { createModel } from "../../llm/stream-message.ts";
import { type ModelCallReport, watchModel } from "../../llm/watch-model.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import { createSummaryModel } from "../../session/context/summarizer.ts";
import type { SummaryModel } from "../../session/context/summarizer.ts";
import { betasOf, INLINE_TOOLS } from "../../session/model/open-stream.ts";
import type { ConfigFileValues } from "../config-file.ts";
import { serveAgent, serveDefaultAgent } from "./serve-agents.ts";

interface SessionModel {
  /** All agents by name, including the default one. The map may change. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** The agent defined in parley.config.ts. It serves rooms for which no other agent is chosen. */
  readonly defaultAgent: ServedAgent;
  readonly summaryModel: SummaryModel | undefined;
  /** Updates `agents` from the definitions. An agent whose definition is still the same object is kept. */
  readonly redefineAgents: (definitions: Definitions) => void;
}

/** Address and key of the Messages API. */
export interface ModelEndpoint {
  readonly apiKey: string;
  /** `undefined` means Anthropic's API. */
  readonly baseUrl: string | undefined;
  /** Called with the result of each call. @defaultValue none */
  readonly onCall?: (report: ModelCallReport) => void;
}

type Definitions = ReadonlyMap<string, AgentSettings>;

/**
 * Creates the agents and their models from the configuration.
 *
 * @param definitions the agents other than the one in parley.config.ts
 */
export function createSessionModel(
  config: ConfigFileValues,
  { apiKey, baseUrl, onCall }: ModelEndpoint,
  definitions: Definitions = new Map(),
): SessionModel {
  const { summaryModel, inlineTools, edits } = config.context;
  const model = createModel({
    apiKey,
    idleTimeoutMs: config.modelIdleTimeoutMs,
    ...(baseUrl !== undefined && { baseUrl }),
    betas: [...(inlineTools ? [INLINE_TOOLS] : []), ...betasOf(edits)],
  });
  const client = onCall ? watchModel(model, onCall) : model;
  const serving = { client, model: config.model, inlineTools, edits };
  const { onUserTurn, onAnswer } = config;
  const inherited = { ...(onUserTurn && { onUserTurn }), ...(onAnswer && { onAnswer }) };
  const defaultAgent = serveDefaultAgent(config, serving);
  const agents = new Map([[defaultAgent.name, defaultAgent]]);
  let defined: Definitions = new Map();
  const redefineAgents = (now: Definitions) => {
    for (const name of defined.keys()) if (!now.has(name)) agents.delete(name);
    for (const [name, agent] of now)
      if (defined.get(name) !== agent) agents.set(name, serveAgent(name, { ...inherited, ...agent }, serving));
    defined = new Map(now);
  };
  redefineAgents(definitions);
  return {
    agents,
    defaultAgent,
    summaryModel: summaryModel === undefined ? undefined : createSummaryModel(client, summaryModel),
    redefineAgents,
  };
}
