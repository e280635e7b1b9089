import { cleanJson } from "../../lib/clean-json.ts";
import { type JsonObject } from "../../lib/json.ts";
import { createModel } from "../../llm/stream-message.ts";
import { createNotesModel } from "../../session/context/notes-model.ts";
import { type NotesModel } from "../../session/context/summariser.ts";
import {
  type CountTokens,
  createCountTokens,
  createOpenStream,
  INLINE_TOOLS,
  type OpenStream,
} from "../../session/turns/open-stream.ts";
import { type ConfigFileValues } from "../config-file.ts";

interface SessionModel {
  readonly openStream: OpenStream;
  readonly countTokens: CountTokens;
  readonly notesModel: NotesModel | undefined;
}

/** Where the Messages API is. */
export interface ModelEndpoint {
  readonly apiKey: string;
  /** Undefined: at Anthropic's. */
  readonly baseUrl: string | undefined;
}

/** The model of sessions, asked as the configuration says. */
export function createSessionModel(config: ConfigFileValues, { apiKey, baseUrl }: ModelEndpoint): SessionModel {
  const { name, maxTokens, thinking, effort, serverTools } = config.model;
  const { summaryModel, inlineTools } = config.context;
  const model = createModel({
    apiKey,
    idleTimeoutMs: config.modelIdleTimeoutMs,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(inlineTools && { betas: [INLINE_TOOLS] }),
  });
  const fixed = {
    model: name,
    maxTokens,
    instructions: config.instructions,
    inlineTools,
    serverTools: serverTools.map((tool) => cleanJson(tool) as JsonObject),
    ...(thinking !== undefined && { thinking: toThinking(thinking) }),
    ...(effort !== undefined && { effort }),
  };
  return {
    openStream: createOpenStream(model, fixed),
    countTokens: createCountTokens(model, fixed),
    notesModel: summaryModel === undefined ? undefined : createNotesModel(model, summaryModel),
  };
}

function toThinking(thinking: NonNullable<ConfigFileValues["model"]["thinking"]>) {
  if (thinking === "adaptive") return { type: "adaptive" } as const;
  return { type: "enabled", budgetTokens: thinking.budgetTokens } as const;
}
