import type { TurnBlock } from "../../conversation/block.ts";
import type { Media } from "../../conversation/content.ts";
import type { ShownContext, TurnRecord } from "../../conversation/turn-record.ts";
import { loadMedia } from "../../store/media.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import {
  findTurn,
  hasMessageOrCall,
  hasTurnsOf,
  loadAnswers,
  loadToldOutcomes,
  type FoundTurn,
  type StoredAnswer,
} from "../../store/turns/find-turns.ts";
import { loadNewestTurns, loadWindow, type WindowLimits } from "../../store/turns/load-turns.ts";
import type { Window } from "../../turn/shown-talk.ts";

/** A session's stored turns. A session keeps in memory only what the model is shown, and reads the rest from here. */
export interface TalkArchive {
  /** The newest turn of the history with this user's or assistant's message. */
  readonly find: (messageId: string) => Promise<FoundTurn | undefined>;
  /** Whether the session has a message or a call of this id; in turns that were replaced, too. */
  readonly has: (id: string) => Promise<boolean>;
  /**
   * What the model is shown in a turn at this position; without a position, in the next turn.
   *
   * @param resumed what that turn was shown, if it is taken up again
   */
  readonly windowBefore: (position?: number, resumed?: ShownContext) => Promise<Window>;
  /** The newest turns of the history between two positions, oldest first and without large results: not too much to read. */
  readonly turnsBetween: (after: number, before: number) => Promise<readonly TurnRecord[]>;
  /** Blocks of turns from this position on that told the outcomes of calls of earlier turns. */
  readonly outcomesToldFrom: (position: number) => Promise<readonly Omit<TurnBlock, "sequence">[]>;
  /** Whether a participant has had a turn, replaced or not. */
  readonly hasTurnsOf: (identity: string) => Promise<boolean>;
  /** The media of these ids, without those that are not stored any more. */
  readonly loadMedia: (ids: readonly string[]) => Promise<readonly Media[]>;
  /** The newest answers that ended between two of the worker's stanzas, oldest first. */
  readonly answers: (between: { after: number; until: number; limit: number }) => Promise<readonly StoredAnswer[]>;
}

export function createTalkArchive(writer: SessionWriter, limits: WindowLimits): TalkArchive {
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
    outcomesToldFrom: (from) => loadToldOutcomes(sql, { sessionId, from }),
    hasTurnsOf: (identity) => hasTurnsOf(sql, { sessionId, identity }),
    loadMedia: (ids) => loadMedia(writer, { ids }),
    answers: ({ after, until, limit }) => loadAnswers(sql, { sessionId, after, until, limit }),
  };
}
