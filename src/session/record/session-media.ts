import { mediaIn } from "../../conversation/block.ts";
import type { Media } from "../../conversation/content.ts";
import type { Call } from "../../conversation/call.ts";
import type { HistoryMessage } from "../../conversation/history.ts";
import { incrementalFlatMap } from "../../lib/incremental-flat-map.ts";
import type { MediaData } from "../../llm/to-messages.ts";
import type { MediaWithSource } from "../../store/media.ts";
import type { Recorder } from "./recorder.ts";
import type { ConversationArchive } from "./conversation-archive.ts";

interface SessionMediaOptions {
  readonly recorder: Pick<Recorder, "storeMedia">;
  readonly archive: Pick<ConversationArchive, "loadMedia">;
}

/** The bytes of a session's pictures and documents. Caches the media that the model was shown last. */
export class SessionMedia {
  readonly #options: SessionMediaOptions;
  /** Media in memory: base64 by id. */
  readonly #held = new Map<string, string>();
  /** Ids of media that are not stored yet. */
  readonly #unstored = new Set<string>();

  constructor(options: SessionMediaOptions) {
    this.#options = options;
  }

  /** Stores the media that a call's outcome refers to. They are stored before the outcome. */
  storeResult({ id: callId, executionResolved, addressee }: Call, media: readonly Media[]): void {
    this.keep({ callId, from: executionResolved === "server" ? null : (addressee ?? null), media }).catch(() => {});
  }

  /** Resolves when the media are stored. @throws {AppError} `unavailable` when the database remains unavailable */
  async keep(given: MediaWithSource): Promise<void> {
    const ids = given.media.map(({ id }) => id);
    if (ids.length === 0) return;
    for (const each of given.media) this.#hold(each);
    for (const id of ids) this.#unstored.add(id);
    try {
      await this.#options.recorder.storeMedia(given);
    } finally {
      for (const id of ids) this.#unstored.delete(id);
    }
  }

  /** Returns all media that a history refers to, except those no longer stored, or `undefined` if it refers to none. */
  of(history: readonly HistoryMessage[]): Promise<MediaData> | undefined {
    const ids = new Set(idsIn(history));
    if (ids.size > 0) return this.#load(ids);
    this.#forgetAllBut(ids);
    return undefined;
  }

  async #load(ids: ReadonlySet<string>): Promise<MediaData> {
    const missing = [...ids].filter((id) => !this.#held.has(id));
    if (missing.length > 0) for (const each of await this.#options.archive.loadMedia(missing)) this.#hold(each);
    const data = new Map([...this.#held].filter(([id]) => ids.has(id)));
    this.#forgetAllBut(ids);
    return data;
  }

  /** Evicts all other media from memory, unless they are not stored yet. Stored media can be loaded again. */
  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const id of this.#held.keys()) if (!ids.has(id) && !this.#unstored.has(id)) this.#held.delete(id);
  }

  #hold({ id, bytes }: Media): void {
    this.#held.set(id, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"));
  }
}

const idsIn = incrementalFlatMap(({ blocks }: HistoryMessage) => blocks.flatMap(mediaIn).map(({ id }) => id));
