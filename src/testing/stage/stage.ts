import type { AgentSettings } from "../../agent/agent-fields.ts";
import type { Transport } from "../../client/room/transport.ts";
import type { SessionWatcher } from "../../session/events/session-event.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { ConfigFileValues } from "../../worker/config-file.ts";
import type { ModelEndpoint } from "../../worker/job/session-model.ts";

/** An agent as a session takes it. */
export interface AgentParts {
  /** Of the one that serves the session. */
  readonly name: string;
  readonly config: ConfigFileValues;
  readonly tools: ReadonlyMap<string, ServerTool>;
  /** Those beside the config's own, by name. */
  readonly agents: ReadonlyMap<string, AgentSettings>;
}

/** What a stage needs to open a talk's session. */
export interface StageOptions {
  readonly agent: AgentParts;
  readonly model: ModelEndpoint;
  /** The participant that talks to the agent. */
  readonly identity: string;
  /** Told of all that happens in the session. */
  readonly watch: SessionWatcher;
}

/** The participant's microphone and ears. */
export interface StageVoice {
  /** Says it aloud. Resolves when its last sound has been sent. */
  readonly say: (text: string) => Promise<void>;
  /** How much sound has come from the agent since the talk began. */
  readonly soundMs: number;
  /** Resolves when nothing more is heard of the agent. */
  readonly untilSilence: () => Promise<void>;
  /** Resolves when the agent has said something from now on. */
  readonly untilSpoken: () => Promise<void>;
}

/** Where a talk takes place: a room with a session in it, and one participant's place. */
export interface Stage {
  /** The participant's way into the room, which it is in. */
  readonly transport: Transport;
  readonly isPresent: () => boolean;
  /** In a talk by voice. */
  readonly voice?: StageVoice;
  /** The participant leaves the room, as a device does that is switched off. */
  readonly leave: () => Promise<void>;
  /** Brings the participant back, who goes on by the transport that it gets. */
  readonly comeBack: () => Promise<Transport>;
  readonly close: () => Promise<void>;
}
