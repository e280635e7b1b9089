import type { Logger } from "pino";
import { ModelError } from "../../llm/model-error.ts";
import type { EndedTurn } from "./session-turn.ts";

/**
 * Logs the end of a turn. A failed turn is logged as a warning, with the model API's message if that is about the
 * account or the model.
 */
export function logTurnEnd(logger: Logger, turn: EndedTurn, ms: number): void {
  const { id: turnId, state, blocks, errorCode, error } = turn;
  const line = { turnId, state, errorCode, blocks: blocks.length, ms };
  if (state !== "failed") return logger.info(line, "turn ended");
  const { requestId, apiMessage } = error instanceof ModelError ? error : {};
  logger.warn({ ...line, requestId, apiMessage, error }, "turn ended");
}
