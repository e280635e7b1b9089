import type { Logger } from "pino";
import type { ServerTool } from "../tool/server-tool.ts";
import type { SessionEvent } from "./events/session-event.ts";
import type { Participants } from "./participants/participants.ts";
import type { Recorder } from "./record/recorder.ts";
import type { ConversationArchive } from "./record/conversation-archive.ts";
import type { RoomLink } from "./room/room-link.ts";
import type { VoicePort } from "./room/voice-port.ts";
import type { SessionPolicy } from "./session-policy.ts";
import type { LiveState } from "./state/live-state.ts";
import type { SessionTelemetry } from "./telemetry/session-telemetry.ts";
import type { Outbox } from "./wire/outbox.ts";

/** What the parts of a session share. Each part picks the fields it needs. */
export interface SessionCore {
  /** The id of the row in `sessions`. */
  readonly sessionId: string;
  readonly room: string;
  /** LiveKit's id of the room. */
  readonly roomSid: string;
  readonly policy: SessionPolicy;
  /** May change at any time. Read it again for every step and call. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly participants: Participants;
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** Undefined in a session without speech. Silent while no participant listens. */
  readonly voice: VoicePort | undefined;
  readonly recorder: Recorder;
  readonly archive: ConversationArchive;
  readonly state: LiveState;
  readonly telemetry: SessionTelemetry;
  readonly logger: Logger;
  /** Notifies the session's watchers. */
  readonly emit: (event: SessionEvent) => void;
}
