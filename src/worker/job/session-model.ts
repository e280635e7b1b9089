import type { AgentSettings } from "../../agent/agent-fields.ts";
import { createModel } from "../../llm/stream-message.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import { createNotesModel } from "../../session/context/notes-model.ts";
import type { NotesModel } from "../../session/context/summariser.ts";
import { INLINE_TOOLS } from "../../session/turns/open-stream.ts";
import type { ConfigFileValues } from "../config-file.ts";
import { serveAgent, serveStandardAgent } from "./serve-agents.ts";

interface SessionModel {
  /** Those of the agents' folder and the standard one, by name. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** That of parley.config.ts: it serves the rooms for which none is named. */
  readonly standardAgent: ServedAgent;
  readonly notesModel: NotesModel | undefined;
}

/** Where the Messages API is. */
export interface ModelEndpoint {
  readonly apiKey: string;
  /** Undefined: at Anthropic's. */
  readonly baseUrl: string | undefined;
}

type Definitions = ReadonlyMap<string, AgentSettings>;

/** The agents with their models, asked as the configuration says. `definitions`: those beside the configuration's own. */
export function createSessionModel(
  config: ConfigFileValues,
  { apiKey, baseUrl }: ModelEndpoint,
  definitions: Definitions = new Map(),
): SessionModel {
  const { summaryModel, inlineTools } = config.context;
  const client = createModel({
    apiKey,
    idleTimeoutMs: config.modelIdleTimeoutMs,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(inlineTools && { betas: [INLINE_TOOLS] }),
  });
  const serving = { client, model: config.model, inlineTools };
  const standardAgent = serveStandardAgent(config, serving);
  const named = [...definitions].map(([name, agent]) => serveAgent(name, agent, serving));
  return {
    agents: new Map([...named, standardAgent].map((agent) => [agent.name, agent])),
    standardAgent,
    notesModel: summaryModel === undefined ? undefined : createNotesModel(client, summaryModel),
  };
}
