import type { TurnBlock } from "../../conversation/block.ts";
import type { Media } from "../../conversation/content.ts";
import type { ShownContext, TurnRecord } from "../../conversation/turn-record.ts";
import type { StateUndo } from "../../conversation/state/state-change.ts";
import { loadMedia } from "../../store/media.ts";
import { loadUndo } from "../../store/sessions/session-state.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import {
  findTurn,
  hasMessageOrCall,
  hasTurnsOf,
  loadAnswers,
  loadReportedOutcomes,
  type FoundTurn,
  type StoredAnswer,
} from "../../store/turns/find-turns.ts";
import { loadNewestTurns, loadWindow, type WindowLimits } from "../../store/turns/load-turns.ts";
import type { Window } from "../../turn/context-window.ts";

/** A session's stored turns. A session keeps only its context window in memory, and reads everything else from here. */
export interface ConversationArchive {
  /** Finds the turn in the history that contains this user or assistant message; the first one if there are several. */
  readonly find: (messageId: string) => Promise<FoundTurn | undefined>;
  /** Whether the session contains a message or call with this id, even in a turn that was replaced. */
  readonly has: (id: string) => Promise<boolean>;
  /**
   * Loads the context window for the turn at this position, or by default for the next turn.
   *
   * @param resumed the context that the turn ran with before, if it is being resumed
   */
  readonly windowBefore: (position?: number, resumed?: ShownContext) => Promise<Window>;
  /**
   * Loads the latest turns of the history between two positions, oldest first. Large results are replaced by
   * placeholders, and the total size is limited.
   */
  readonly turnsBetween: (after: number, before: number) => Promise<readonly TurnRecord[]>;
  /**
   * Loads the blocks that report late outcomes in turns from this position on. Includes only outcomes of calls that
   * began in a turn before this position.
   */
  readonly reportedOutcomes: (position: number) => Promise<readonly Omit<TurnBlock, "sequence">[]>;
  /** Loads which changes of the session's state are undone if the turns from this position on are replaced. */
  readonly stateUndo: (position: number) => Promise<StateUndo>;
  /** Whether a participant has had a turn, even one that was replaced. */
  readonly hasTurnsOf: (identity: string) => Promise<boolean>;
  /** Loads the media with these ids, except those no longer stored. */
  readonly loadMedia: (ids: readonly string[]) => Promise<readonly Media[]>;
  /** Loads the latest answers that ended between two of the worker's stanzas, oldest first. */
  readonly answers: (between: { after: number; until: number; limit: number }) => Promise<readonly StoredAnswer[]>;
}

export function createConversationArchive(writer: SessionWriter, limits: WindowLimits): ConversationArchive {
  const { sql, lease } = writer;
  const { sessionId } = lease;
  return {
    find: (messageId) => findTurn(sql, { sessionId, messageId }),
    has: (id) => hasMessageOrCall(sql, { sessionId, id }),
    windowBefore: (before, resumed) =>
      loadWindow(sql, { sessionId, ...(before !== undefined && { before }), resumed, ...limits }),
    turnsBetween: (after, before) => {
      const shortened = { position: before, sequence: 0 };
      return loadNewestTurns(sql, { sessionId, from: after + 1, before, shortened, maxBytes: limits.maxBytes });
    },
    reportedOutcomes: (from) => loadReportedOutcomes(sql, { sessionId, from }),
    stateUndo: (from) => loadUndo(sql, { sessionId, from }),
    hasTurnsOf: (identity) => hasTurnsOf(sql, { sessionId, identity }),
    loadMedia: (ids) => loadMedia(writer, { ids }),
    answers: ({ after, until, limit }) => loadAnswers(sql, { sessionId, after, until, limit }),
  };
}
