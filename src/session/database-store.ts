import type { Logger } from "pino";
import type { SessionWriter } from "../store/sessions/session-writer.ts";
import { loadState } from "../store/sessions/session-state.ts";
import { storeFirstAgent, storeLanguage, storeSessionAgent, loadLanguages } from "../store/sessions/sessions.ts";
import { reserveStanzas, trimStanzas } from "../store/sessions/stanzas.ts";
import { publishAfterStored } from "./events/publish-after-stored.ts";
import { createEventPublisher } from "./events/event-publisher.ts";
import { createPermissionStore, type PermissionEvents } from "./permission/permission-store.ts";
import { restore } from "./restore/restore.ts";
import type { SessionPolicy } from "./session-policy.ts";
import type { SessionStore } from "./session-store.ts";
import { createSpendingStore } from "./spending/spending-store.ts";
import { CountedLog } from "./wire/counted-log.ts";
import { StanzaCounter } from "./wire/outbox.ts";
import { Recorder } from "./record/recorder.ts";
import type { SessionLease } from "./record/session-lease.ts";
import { createConversationArchive } from "./record/conversation-archive.ts";

/**
 * The average number of bytes per token of text, to estimate the tokens of turns stored by older versions, which did
 * not count tokens.
 */
const BYTES_A_TOKEN = 3;

interface DatabaseStoreOptions {
  readonly lease: SessionLease;
  /** The highest stanza number that an earlier worker may have used, as a positive number; 0 if there was none. */
  readonly sentBefore: number;
  readonly roomSid: string | undefined;
  readonly policy: Pick<SessionPolicy, "model" | "context" | "toolResultMaxBytes">;
  /** Reports answers to permission requests. */
  readonly permissionEvents: PermissionEvents;
  readonly logger: Logger;
}

/**
 * Opens a session's store in the database. Restores the session, and ends unfinished work of an earlier worker that
 * cannot be resumed.
 */
export async function openDatabaseStore(options: DatabaseStoreOptions): Promise<SessionStore> {
  const { lease, sentBefore, roomSid, policy, permissionEvents, logger } = options;
  const writer: SessionWriter = lease.writer;
  const { sql } = writer;
  const { sessionId } = writer.lease;
  const archive = createConversationArchive(writer, {
    model: policy.model,
    maxBytes: policy.context.budgetTokens * BYTES_A_TOKEN,
  });
  const restored = await restore(writer, { archive, resultMaxBytes: policy.toolResultMaxBytes });
  const state = await loadState(sql, { sessionId });
  const languages = await loadLanguages(sql, { sessionId });
  const stanzas = await StanzaCounter.open((count) => reserveStanzas(writer, { count }));
  const publish = createEventPublisher({ writer, logger });
  const lostExtras = new CountedLog(logger, "extra tool call result dropped");
  const recorder = new Recorder(lease, {
    onLost: (error) => logger.error({ error }, "storing conversation failed, records lost"),
    onExtraLost: (error) => lostExtras.note({ code: error.code }, error),
    onCallStored: (call) => publish({ type: "tool_state_stored", call }),
  });
  return {
    recorder,
    archive,
    permissions: createPermissionStore(writer, permissionEvents),
    spending: createSpendingStore(sql),
    stanzas,
    sentBefore,
    restored,
    state,
    languages,
    storeLanguage: (identity, language) => storeLanguage(writer, { identity, language }),
    storeFirstAgent: async (served) => roomSid && (await storeFirstAgent(writer, { ...served, roomSid })),
    storeAgent: async (agent) => roomSid && (await storeSessionAgent(writer, { agent, roomSid })),
    watchers: [publishAfterStored(publish, recorder)],
    close: async () => {
      lostExtras.close();
      await trimStanzas(writer, { last: stanzas.last }).catch(() => {});
    },
  };
}
