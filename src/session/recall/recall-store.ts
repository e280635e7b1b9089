import { findResult, findSessionOfCall, type StoredResult } from "../../store/recall/find-result.ts";
import { searchRecord, type FoundPiece, type RecordSearch } from "../../store/recall/search-record.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Searches the conversation that a call belongs to, and no other one. */
export interface RecallStore {
  /**
   * Pieces of ended turns, newest first. `undefined` when the words have neither letters nor digits.
   *
   * @throws {Error} when it is not known which conversation the call belongs to
   */
  readonly search: (
    callId: string,
    search: Omit<RecordSearch, "sessionId">,
  ) => Promise<readonly FoundPiece[] | undefined>;
  /** The result of a call, by its id or that of its tool use. @throws {Error} as `search` does */
  readonly findResult: (callId: string, id: string) => Promise<StoredResult | undefined>;
}

export function createRecallStore(sql: Sql): RecallStore {
  const sessionOf = async (callId: string) => {
    const sessionId = await findSessionOfCall(sql, { callId });
    if (sessionId === undefined) throw new Error("The record of this conversation cannot be read now");
    return sessionId;
  };
  return {
    search: async (callId, search) => searchRecord(sql, { ...search, sessionId: await sessionOf(callId) }),
    findResult: async (callId, id) => findResult(sql, { sessionId: await sessionOf(callId), id }),
  };
}
