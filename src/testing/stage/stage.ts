import type { AgentSettings } from "../../agent/agent-fields.ts";
import type { Transport } from "../../client/room/transport.ts";
import type { SessionWatcher } from "../../session/events/session-event.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { ConfigFileValues } from "../../worker/config-file.ts";
import type { ModelEndpoint } from "../../worker/job/session-model.ts";

/** An agent in the form that a session takes. */
export interface AgentParts {
  /** The name of the agent that serves the session. */
  readonly name: string;
  readonly config: ConfigFileValues;
  readonly tools: ReadonlyMap<string, ServerTool>;
  /** Deadlines that the test's device sets for these tools, in milliseconds, by name. They replace the tools' own. */
  readonly deadlines: Map<string, number>;
  /** The other agents, by name, without the config's own one. */
  readonly agents: ReadonlyMap<string, AgentSettings>;
}

/** What a stage needs to open a talk's session. */
export interface StageOptions {
  readonly agent: AgentParts;
  readonly model: ModelEndpoint;
  /** The participant that talks to the agent. */
  readonly identity: string;
  /** Gets all events of the session. */
  readonly watch: SessionWatcher;
}

/** The participant's microphone and ears. */
export interface StageVoice {
  /** Says it aloud. Resolves when its last sound has been sent. */
  readonly say: (text: string) => Promise<void>;
  /** How much sound has come from the agent since the talk began. */
  readonly soundMs: number;
  /** Resolves when the agent has become silent. */
  readonly untilSilence: () => Promise<void>;
  /** Resolves when the agent has said something after this call. */
  readonly untilSpoken: () => Promise<void>;
}

/** Where a talk takes place: a room with a session and one participant. */
export interface Stage {
  /** The transport of the participant, who is in the room. */
  readonly transport: Transport;
  readonly isPresent: () => boolean;
  /** Only in a talk by voice. */
  readonly voice?: StageVoice;
  /** The participant leaves the room, as a device does that is switched off. */
  readonly leave: () => Promise<void>;
  /** Brings the participant back. It must use the new transport from then on. */
  readonly comeBack: () => Promise<Transport>;
  readonly close: () => Promise<void>;
}
