import type { Logger } from "pino";
import { ModelError } from "../../llm/model-error.ts";
import { isRefusal } from "../../llm/watch-model.ts";
import type { EndedTurn } from "./session-turn.ts";

/**
 * Logs the end of a turn. A failed turn is logged as a warning, unless the model refuses calls: then every turn fails,
 * and the worker logs one warning a minute for all of them.
 */
export function logTurnEnd(logger: Logger, turn: EndedTurn, ms: number): void {
  const { id: turnId, state, blocks, errorCode, error } = turn;
  const line = { turnId, state, errorCode, blocks: blocks.length, ms };
  if (state !== "failed") return logger.info(line, "turn ended");
  const { requestId, apiMessage } = error instanceof ModelError ? error : {};
  logger[isRefusal(error) ? "info" : "warn"]({ ...line, requestId, apiMessage, error }, "turn ended");
}
