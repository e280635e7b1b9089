import type { AgentSettings } from "../../agent/agent-fields.ts";
import type { Transport } from "../../client/room/transport.ts";
import type { SessionWatcher } from "../../session/events/session-event.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { ConfigFileValues } from "../../worker/config-file.ts";
import type { ModelEndpoint } from "../../worker/job/session-model.ts";

/** An agent in the form that a session needs. */
export interface AgentParts {
  /** The name of the agent that starts the session. */
  readonly name: string;
  readonly config: ConfigFileValues;
  readonly tools: ReadonlyMap<string, ServerTool>;
  /** Timeouts that the test's device sets for these tools, in milliseconds, by name. They override the tools' own. */
  readonly deadlines: Map<string, number>;
  /** The other agents by name, excluding the config's own agent. */
  readonly agents: ReadonlyMap<string, AgentSettings>;
}

/** What a stage needs to open a session. */
export interface StageOptions {
  readonly agent: AgentParts;
  readonly model: ModelEndpoint;
  /** The participant who talks to the agent. */
  readonly identity: string;
  /** Receives all events of the session. */
  readonly watch: SessionWatcher;
}

/** The participant's microphone, and the sound that the participant receives. */
export interface StageVoice {
  /** Speaks a string. Resolves when its last sound has been sent. */
  readonly say: (text: string) => Promise<void>;
  /** How much sound the agent has made since the session began, in milliseconds. */
  readonly soundMs: number;
  /** Resolves when the agent is silent. */
  readonly untilSilence: () => Promise<void>;
  /** Resolves when the agent has spoken after this call. */
  readonly untilSpoken: () => Promise<void>;
}

/** Where a test's session runs: a room with an agent and one participant. */
export interface Stage {
  /** The transport of the participant, who is in the room. */
  readonly transport: Transport;
  readonly isPresent: () => boolean;
  /** Set only in a voice session. */
  readonly voice?: StageVoice;
  /** Makes the participant leave the room, like a device that is switched off. */
  readonly leave: () => Promise<void>;
  /** Lets the participant rejoin. The participant must use the returned transport from then on. */
  readonly comeBack: () => Promise<Transport>;
  readonly close: () => Promise<void>;
}
