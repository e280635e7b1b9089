import type { AgentSettings } from "../../agent/agent-fields.ts";
import { createModel } from "../../llm/stream-message.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import { createNotesModel } from "../../session/context/summariser.ts";
import type { NotesModel } from "../../session/context/summariser.ts";
import { betasOf, INLINE_TOOLS } from "../../session/model/open-stream.ts";
import type { ConfigFileValues } from "../config-file.ts";
import { serveAgent, serveStandardAgent } from "./serve-agents.ts";

interface SessionModel {
  /** The agents of the agents' folder and the standard one, by name. They may change. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** The agent of parley.config.ts, which serves the rooms for which no agent is named. */
  readonly standardAgent: ServedAgent;
  readonly notesModel: NotesModel | undefined;
  /** Updates `agents` from the definitions. An agent whose definition is the same object stays. */
  readonly redefineAgents: (definitions: Definitions) => void;
}

/** Where the Messages API is. */
export interface ModelEndpoint {
  readonly apiKey: string;
  /** Undefined: Anthropic's. */
  readonly baseUrl: string | undefined;
}

type Definitions = ReadonlyMap<string, AgentSettings>;

/** Makes the agents and their models from the configuration. @param definitions the agents beside its own one */
export function createSessionModel(
  config: ConfigFileValues,
  { apiKey, baseUrl }: ModelEndpoint,
  definitions: Definitions = new Map(),
): SessionModel {
  const { summaryModel, inlineTools, edits } = config.context;
  const client = createModel({
    apiKey,
    idleTimeoutMs: config.modelIdleTimeoutMs,
    ...(baseUrl !== undefined && { baseUrl }),
    betas: [...(inlineTools ? [INLINE_TOOLS] : []), ...betasOf(edits)],
  });
  const serving = { client, model: config.model, inlineTools, edits };
  const standardAgent = serveStandardAgent(config, serving);
  const agents = new Map([[standardAgent.name, standardAgent]]);
  let defined: Definitions = new Map();
  const redefineAgents = (now: Definitions) => {
    for (const name of defined.keys()) if (!now.has(name)) agents.delete(name);
    for (const [name, agent] of now)
      if (defined.get(name) !== agent) agents.set(name, serveAgent(name, agent, serving));
    defined = new Map(now);
  };
  redefineAgents(definitions);
  return {
    agents,
    standardAgent,
    notesModel: summaryModel === undefined ? undefined : createNotesModel(client, summaryModel),
    redefineAgents,
  };
}
