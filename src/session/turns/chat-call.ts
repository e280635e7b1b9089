import { type HistoryMessage } from "../../conversation/history.ts";
import { type JsonObject } from "../../lib/json.ts";
import { type ModelRequest } from "../../llm/build-request.ts";
import { type ModelEvent } from "../../llm/model-event.ts";
import { type OfferedTool } from "../../tool/directory.ts";

/** One model call, as whoever watches it is told of it before it begins. */
export interface ChatCall {
  readonly request: ModelRequest;
  readonly history: readonly HistoryMessage[];
  readonly instructions: string;
  readonly tools: readonly OfferedTool[];
  /** Anthropic's own, in the API's words. */
  readonly serverTools: readonly JsonObject[];
}

/** Stands between a model call and who reads it; must pass everything on. */
export type ChatObserver = (call: ChatCall, stream: AsyncIterable<ModelEvent>) => AsyncIterable<ModelEvent>;
