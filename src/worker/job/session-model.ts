import type { AgentSettings } from "../../agent/agent-fields.ts";
import { createModel, type Model } from "../../llm/stream-message.ts";
import { type ModelCallReport, watchModel } from "../../llm/watch-model.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import { createSummaryModel } from "../../session/context/summarizer.ts";
import type { SummaryModel } from "../../session/context/summarizer.ts";
import { betasOf, INLINE_TOOLS } from "../../session/model/open-stream.ts";
import type { ConfigFileValues } from "../config-file.ts";
import { keyAt, labelOf, type ModelPlace, serveAgent, serveDefaultAgent } from "./serve-agents.ts";

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
  /** Contains the keys of models with their own address or key. @defaultValue all models are called at this endpoint */
  readonly env?: NodeJS.ProcessEnv;
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
  own: ModelEndpoint,
  definitions: Definitions = new Map(),
): SessionModel {
  const { summaryModel, inlineTools, edits } = config.context;
  const clients = new Map<string, Model>();
  const clientAt = (asked: ModelPlace) => {
    const place = own.env ? asked : {};
    const { baseUrl = own.baseUrl, key } = place;
    const id = JSON.stringify([place.baseUrl, key]);
    const known = clients.get(id);
    if (known) return known;
    const apiKey = keyAt(place, own) ?? NO_KEY;
    const model = createModel({
      apiKey,
      idleTimeoutMs: config.modelIdleTimeoutMs,
      ...(baseUrl !== undefined && { baseUrl }),
      betas: [...(inlineTools ? [INLINE_TOOLS] : []), ...betasOf(edits)],
    });
    const { onCall } = own;
    const client = onCall ? watchModel(model, (report) => onCall(toReport(report, { place, apiKey }))) : model;
    clients.set(id, client);
    return client;
  };
  const serving = { client: clientAt({}), clientAt, model: config.model, inlineTools, edits };
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
    summaryModel: summaryModel === undefined ? undefined : createSummaryModel(clientAt(config.model), summaryModel),
    redefineAgents,
  };
}

/** Names the model with its place. Removes the key, which a server may quote when it rejects it. */
function toReport(
  { model, refusal }: ModelCallReport,
  { place, apiKey }: { readonly place: ModelPlace; readonly apiKey: string },
): ModelCallReport {
  // A shorter key may be a word.
  const apiMessage = apiKey.length > 8 ? refusal?.apiMessage?.replaceAll(apiKey, "…") : refusal?.apiMessage;
  return { model: labelOf(model, place), ...(refusal && { refusal: { ...refusal, apiMessage } }) };
}

/** A server may need no key, but Anthropic's SDK requires one. */
const NO_KEY = "none";
