import { findResult, findSessionOfCall, type StoredResult } from "../../store/recall/find-result.ts";
import { searchRecord, type FoundPiece, type RecordSearch } from "../../store/recall/search-record.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Searches only the conversation that a call belongs to. */
export interface RecallStore {
  /**
   * Returns excerpts of ended turns, newest first, or `undefined` if the query contains no letters or digits.
   *
   * @throws {Error} if the call's conversation cannot be determined
   */
  readonly search: (
    callId: string,
    search: Omit<RecordSearch, "sessionId">,
  ) => Promise<readonly FoundPiece[] | undefined>;
  /** Returns a call's result, by the id of the call or of its tool use. @throws {Error} as `search` does */
  readonly findResult: (callId: string, id: string) => Promise<StoredResult | undefined>;
}

export function createRecallStore(sql: Sql): RecallStore {
  const sessionOf = async (callId: string) => {
    const sessionId = await findSessionOfCall(sql, { callId });
    if (sessionId === undefined) throw new Error("The record of this conversation cannot be read at the moment");
    return sessionId;
  };
  return {
    search: async (callId, search) => searchRecord(sql, { ...search, sessionId: await sessionOf(callId) }),
    findResult: async (callId, id) => findResult(sql, { sessionId: await sessionOf(callId), id }),
  };
}
