import type { SessionStore } from "../../session/session-store.ts";
import { StanzaCounter } from "../../session/wire/outbox.ts";
import { MemoryMemories } from "./memory-memories.ts";
import { MemoryPermissions } from "./memory-permissions.ts";
import { MemoryRecall } from "./memory-recall.ts";
import { MemoryRecorder } from "./memory-recorder.ts";
import { MemorySpending } from "./memory-spending.ts";

const FIRST_STANZA = 1;
const RESERVED = 1_000;

/** Stores a session and its participants' memories in this object only. */
export class MemoryStore implements SessionStore {
  readonly memoryRecorder = new MemoryRecorder();
  readonly recorder = this.memoryRecorder.asRecorder;
  readonly archive = this.memoryRecorder.archive;
  readonly permissions: MemoryPermissions;
  readonly spending = new MemorySpending();
  readonly memories = new MemoryMemories();
  readonly recall = new MemoryRecall(this.memoryRecorder);
  readonly stanzas: StanzaCounter;
  readonly sentBefore = 0;
  readonly restored: SessionStore["restored"] = {
    window: { turns: [], context: undefined },
    lastPosition: 0,
    messageIds: [],
    unfinished: undefined,
    waiting: [],
    promised: [],
    forms: [],
  };
  readonly state = { state: undefined, version: 0 };
  readonly languages = new Map<string, string>();
  readonly watchers = [];

  constructor(sessionId: string) {
    let reserved = FIRST_STANZA + RESERVED;
    this.stanzas = new StanzaCounter((count) => Promise.resolve((reserved += count) - count), FIRST_STANZA);
    this.permissions = new MemoryPermissions(sessionId);
  }

  readonly storeLanguage: SessionStore["storeLanguage"] = async (identity, language) => {
    if (language === undefined) this.languages.delete(identity);
    else this.languages.set(identity, language);
  };

  readonly storeFirstAgent = async () => {};

  readonly storeAgent = async () => {};

  readonly close = async () => {};
}
