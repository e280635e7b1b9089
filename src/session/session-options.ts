import type { LiveTools } from "../tool/server-tool.ts";
import type { CallEnd } from "./agent/call-end.ts";
import type { SessionAgents } from "./agent/session-agents.ts";
import type { SummaryModel } from "./context/summarizer.ts";
import type { SessionWatcher } from "./events/session-event.ts";
import type { MemoryPrompt } from "./memory/memory-prompt.ts";
import type { PermissionStore } from "./permission/permission-store.ts";
import type { Restored } from "./restore/restore.ts";
import type { VoicePort } from "./room/voice-port.ts";
import type { SessionCore } from "./session-core.ts";
import type { Spending } from "./spending/spending.ts";
import type { CountTokens, OpenStream } from "./model/open-stream.ts";

type Core =
  | "sessionId"
  | "room"
  | "policy"
  | "serverTools"
  | "outbox"
  | "link"
  | "recorder"
  | "archive"
  | "state"
  | "logger";

/** What a session needs: the room, the store, the model and the config. */
export interface SessionOptions extends Pick<SessionCore, Core>, Partial<Pick<SessionCore, "telemetry">> {
  /** @defaultValue the room's name */
  readonly roomSid?: string | undefined;
  /** Notifies when `serverTools` have changed. @defaultValue they do not change */
  readonly liveTools?: LiveTools | undefined;
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: SessionAgents | undefined;
  /** Calls the current agent's model. */
  readonly openStream: OpenStream;
  /** @defaultValue tokens cannot be counted by the API */
  readonly countTokens?: CountTokens | undefined;
  /** Summarizes older turns. @defaultValue no summaries are written */
  readonly summaryModel?: SummaryModel | undefined;
  readonly spending: Pick<Spending, "warn" | "limited">;
  /** @defaultValue no memories */
  readonly memories?: MemoryPrompt | undefined;
  readonly permissionStore: PermissionStore;
  /** Undefined in a session without speech. */
  readonly voice?: VoicePort | undefined;
  /** The state that the next turn continues from. */
  readonly restored: Pick<Restored, "window" | "lastPosition" | "messageIds">;
  /** @defaultValue the call cannot be ended */
  readonly callEnd?: CallEnd | undefined;
  /** Called when a participant's chosen language no longer applies. @defaultValue nothing is done */
  readonly onLanguageDropped?: (identity: string) => void;
  readonly watchers: readonly SessionWatcher[];
}
