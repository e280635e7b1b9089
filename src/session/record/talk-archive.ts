import type { TurnBlock } from "../../conversation/block.ts";
import type { Media } from "../../conversation/content.ts";
import type { ShownContext } from "../../conversation/turn-record.ts";
import { loadMedia } from "../../store/media.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import {
  findTurn,
  hasTurnsOf,
  loadAnswers,
  loadToldOutcomes,
  type FoundTurn,
  type StoredAnswer,
} from "../../store/turns/find-turns.ts";
import { loadWindow, type WindowLimits } from "../../store/turns/load-turns.ts";
import type { Window } from "../../turn/shown-talk.ts";

/** The talk as it is stored. A session keeps in memory only what the model is shown, and reads the rest from here. */
export interface TalkArchive {
  /** The newest turn of the history with this user's or assistant's message. */
  readonly find: (messageId: string) => Promise<FoundTurn | undefined>;
  /**
   * What a turn goes on from that stands at this position; the newest turns without it.
   *
   * @param resumed what that turn was shown, if it is taken up again
   */
  readonly windowBefore: (position?: number, resumed?: ShownContext) => Promise<Window>;
  /** What turns from this position on told of promises that turns before it had made. */
  readonly outcomesToldFrom: (position: number) => Promise<readonly Omit<TurnBlock, "sequence">[]>;
  /** Whether a participant has had a turn, replaced or not. */
  readonly hasTurnsOf: (identity: string) => Promise<boolean>;
  /** The bytes of these ids, as far as they are stored still. */
  readonly loadMedia: (ids: readonly string[]) => Promise<readonly Media[]>;
  /** The newest answers that ended between two of the worker's stanzas, oldest first. */
  readonly answers: (between: { after: number; until: number; limit: number }) => Promise<readonly StoredAnswer[]>;
}

export function createTalkArchive(writer: SessionWriter, limits: WindowLimits): TalkArchive {
  const { sql, lease } = writer;
  const { sessionId } = lease;
  return {
    find: (messageId) => findTurn(sql, { sessionId, messageId }),
    windowBefore: (before, resumed) =>
      loadWindow(sql, { sessionId, ...(before !== undefined && { before }), resumed, ...limits }),
    outcomesToldFrom: (from) => loadToldOutcomes(sql, { sessionId, from }),
    hasTurnsOf: (identity) => hasTurnsOf(sql, { sessionId, identity }),
    loadMedia: (ids) => loadMedia(writer, { ids }),
    answers: ({ after, until, limit }) => loadAnswers(sql, { sessionId, after, until, limit }),
  };
}
