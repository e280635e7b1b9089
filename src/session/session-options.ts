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
  /** LiveKit's id of the room. @defaultValue the room's name */
  readonly roomSid?: string | undefined;
  readonly policy: SessionPolicy;
  /** May change, and is read anew for every step and call. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** Tells when `serverTools` have changed. @defaultValue they do not change */
  readonly liveTools?: LiveTools | undefined;
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: SessionAgents | undefined;
  readonly openStream: OpenStream;
  /** @defaultValue the API cannot count */
  readonly countTokens?: CountTokens | undefined;
  /** Writes notes on older turns. @defaultValue there are no notes */
  readonly notesModel?: NotesModel | undefined;
  readonly outbox: Outbox;
  readonly recorder: Recorder;
  /** @defaultValue nothing is counted */
  readonly spending?: Pick<Spending, "isWarningDue"> | undefined;
  /** @defaultValue nothing is remembered */
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
  /** Called when a language that was set for a participant is not valid any more. @defaultValue nothing is done */
  readonly onLanguageDropped?: (identity: string) => void;
  readonly watchers: readonly SessionWatcher[];
  /** @defaultValue telemetry by the OpenTelemetry API that this process has registered, if any */
  readonly telemetry?: SessionTelemetry;
  readonly logger: Logger;
}
