import type { Logger } from "pino";
import type { LiveTools, ServerTool } from "../tool/server-tool.ts";
import type { CallEnd } from "./agent/call-end.ts";
import type { SessionAgents } from "./agent/session-agents.ts";
import type { NotesModel } from "./context/summariser.ts";
import type { SessionWatcher } from "./events/session-event.ts";
import type { ToldMemories } from "./memory/told-memories.ts";
import type { PermissionStore } from "./permission/permission-store.ts";
import type { Recorder } from "./record/recorder.ts";
import type { TalkArchive } from "./record/talk-archive.ts";
import type { Restored } from "./restore/restore.ts";
import type { RoomLink } from "./room/room-link.ts";
import type { VoicePort } from "./room/voice-port.ts";
import type { SessionPolicy } from "./session-policy.ts";
import type { Spending } from "./spending/spending.ts";
import type { SessionTelemetry } from "./telemetry/session-telemetry.ts";
import type { CountTokens, OpenStream } from "./turns/open-stream.ts";
import type { Outbox } from "./wire/outbox.ts";

/** What a session is made of: its parts of the room, the record, the model and the config. */
export interface SessionOptions {
  /** The id of the row in `sessions`. */
  readonly sessionId: string;
  readonly room: string;
  readonly policy: SessionPolicy;
  /** May change: it is read anew for every step and call. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** Tells when `serverTools` have changed. @defaultValue they do not change */
  readonly liveTools?: LiveTools | undefined;
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: SessionAgents | undefined;
  readonly openStream: OpenStream;
  /** @defaultValue the API does not tell */
  readonly countTokens?: CountTokens | undefined;
  /** Writes notes on older turns. @defaultValue nobody does */
  readonly notesModel?: NotesModel | undefined;
  readonly outbox: Outbox;
  readonly recorder: Recorder;
  /** @defaultValue what is spent is not counted */
  readonly spending?: Pick<Spending, "isWarningDue"> | undefined;
  /** @defaultValue nobody is remembered */
  readonly memories?: ToldMemories | undefined;
  readonly permissionStore: PermissionStore;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** Undefined: nothing is spoken or heard. */
  readonly voice?: VoicePort | undefined;
  /** What the next turn goes on from. */
  readonly restored: Pick<Restored, "window" | "lastPosition" | "messageIds">;
  readonly archive: TalkArchive;
  /** @defaultValue no call can be ended */
  readonly callEnd?: CallEnd | undefined;
  /** `setLanguage` holds no more for a participant. @defaultValue nothing need be done */
  readonly onLanguageDropped?: (identity: string) => void;
  readonly watchers: readonly SessionWatcher[];
  /** @defaultValue telemetry by the OpenTelemetry API that this process has registered, if any */
  readonly telemetry?: SessionTelemetry;
  readonly logger: Logger;
}
