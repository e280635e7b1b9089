import type { StoredState } from "../store/sessions/session-state.ts";
import type { SessionAgent } from "../store/sessions/sessions.ts";
import type { SessionWatcher } from "./events/session-event.ts";
import type { PermissionStore } from "./permission/permission-store.ts";
import type { Recorder } from "./record/recorder.ts";
import type { ConversationArchive } from "./record/conversation-archive.ts";
import type { Restored } from "./restore/restore.ts";
import type { SpendingStore } from "./spending/spending-store.ts";
import type { StanzaCounter } from "./wire/outbox.ts";

/** Stores what must outlive a session, and provides what was restored when the session was opened. */
export interface SessionStore {
  readonly recorder: Recorder;
  readonly archive: ConversationArchive;
  readonly permissions: PermissionStore;
  readonly spending: SpendingStore;
  readonly stanzas: StanzaCounter;
  /** The highest stanza number that an earlier worker may have used, as a positive number; 0 if there was none. */
  readonly sentBefore: number;
  /** What an earlier worker left unfinished, and the state to continue from. */
  readonly restored: Restored;
  /** The session's state as it was stored when the session was opened. */
  readonly state: StoredState;
  /** The languages chosen for participants, by identity. */
  readonly languages: ReadonlyMap<string, string>;
  /** @param language `undefined` removes the chosen language */
  readonly storeLanguage: (identity: string, language: string | undefined) => Promise<void>;
  /**
   * Stores which agent serves the session in its room, and which dispatch requested it. Does not overwrite an agent
   * that is already stored for the room.
   */
  readonly storeFirstAgent: (served: SessionAgent) => Promise<unknown>;
  /** Stores which agent serves the session from now on. */
  readonly storeAgent: (agent: string) => Promise<unknown>;
  /** Watchers that receive the session's events. */
  readonly watchers: readonly SessionWatcher[];
  /** Call this when the session has ended on this worker. Never rejects. */
  readonly close: () => Promise<void>;
}
