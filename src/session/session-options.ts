import { type Logger } from "pino";
import { type LiveTools } from "../tool/live-tools.ts";
import { type ServerTool } from "../tool/server-tool.ts";
import { type AnsweredTurn } from "./answer/catch-up.ts";
import { type OpenStream } from "./turns/open-stream.ts";
import { type Outbox } from "./wire/outbox.ts";
import { type PermissionStore } from "./permission/permission-store.ts";
import { type Recorder } from "./record/recorder.ts";
import { type RoomLink } from "./room/room-link.ts";
import { type SessionWatcher } from "./events/session-event.ts";
import { type SessionPolicy } from "./session-policy.ts";
import { type SessionTelemetry } from "./telemetry/session-telemetry.ts";
import { type VoicePort } from "./room/voice-port.ts";

export interface SessionOptions {
  /** The row of `sessions`. */
  readonly sessionId: string;
  readonly room: string;
  readonly policy: SessionPolicy;
  /** Live: read again for every step and call. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** Tells when `serverTools` are others. @defaultValue they stay as they are */
  readonly liveTools?: LiveTools;
  readonly openStream: OpenStream;
  readonly outbox: Outbox;
  readonly recorder: Recorder;
  readonly permissionStore: PermissionStore;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** Undefined: nothing is spoken or heard. */
  readonly voice?: VoicePort | undefined;
  /** Turns of earlier times, all ended. */
  readonly past: readonly AnsweredTurn[];
  readonly watchers: readonly SessionWatcher[];
  /** @defaultValue one that goes where this process has registered its OpenTelemetry, which may be nowhere */
  readonly telemetry?: SessionTelemetry;
  readonly logger: Logger;
}

/** What a participant said, by whatever way. */
export interface Utterance {
  readonly id: string;
  readonly content: string;
  /** @defaultValue "text" */
  readonly via?: "voice" | "text";
}
