import type { SessionAgent } from "../store/sessions/sessions.ts";
import type { SessionWatcher } from "./events/session-event.ts";
import type { PermissionStore } from "./permission/permission-store.ts";
import type { Recorder } from "./record/recorder.ts";
import type { TalkArchive } from "./record/talk-archive.ts";
import type { Restored } from "./restore/restore.ts";
import type { SpendingStore } from "./spending/spending-store.ts";
import type { StanzaCounter } from "./wire/outbox.ts";

/** Where one session keeps what must outlive it, and what it found there when it was opened. */
export interface SessionStore {
  readonly recorder: Recorder;
  readonly archive: TalkArchive;
  readonly permissions: PermissionStore;
  readonly spending: SpendingStore;
  readonly stanzas: StanzaCounter;
  /** The last stanza number of an earlier worker, positive; 0 for none. */
  readonly sentBefore: number;
  /** What an earlier worker left. */
  readonly restored: Restored;
  /** The languages that were chosen for participants, by identity. */
  readonly languages: ReadonlyMap<string, string>;
  /** @param language `undefined`: none is chosen any more */
  readonly keepLanguage: (identity: string, language: string | undefined) => Promise<void>;
  /** Stores which agent serves the session in its room, and by which dispatch. What is stored for the room stays. */
  readonly keepFirstAgent: (served: SessionAgent) => Promise<unknown>;
  /** Stores that this agent serves the session from now on. */
  readonly keepAgent: (agent: string) => Promise<unknown>;
  /** Get the session's events. */
  readonly watchers: readonly SessionWatcher[];
  /** To be called when the session has ended here. Never rejects. */
  readonly close: () => Promise<void>;
}
