import type { AgentSession } from "../agent/agent-session.ts";
import type { VoiceSession } from "../agent/plugins/speech-plugins.ts";
import type { ServedAgent } from "../session/agent/served-agent.ts";
import type { SessionAgents } from "../session/agent/session-agents.ts";
import { SessionSpeech } from "./plugins/session-speech.ts";
import type { Speech } from "./providers/speech-choice.ts";
import { RoomVoice, type RoomVoiceOptions } from "./room-voice.ts";

export interface RoomVoiceParts extends Pick<RoomVoiceOptions, "room" | "settings" | "take" | "logger" | "onSpeaking"> {
  /** What all sessions of this process share. */
  readonly shared: Speech;
  /** The agents that may serve the session. */
  readonly served: ReadonlyMap<string, ServedAgent>;
  readonly agents: SessionAgents;
  /** Resolves once the session is open. */
  readonly opened: Promise<void>;
}

/** Creates the voice of a room, with the plugins of its agents. Must be called before the room is connected. */
export function createRoomVoice({ shared, served, agents, opened, ...options }: RoomVoiceParts): RoomVoice {
  const speech = new SessionSpeech({
    speech: shared,
    config: options.settings,
    agent: () => agents.current.voice,
    agentsHave: (use) => [...served.values()].some(({ voice }) => voice[use] !== undefined),
    session: async () => {
      await opened;
      return toVoiceSession(agents.session);
    },
    logger: options.logger,
  });
  return new RoomVoice({
    ...options,
    speech,
    ownVoice: () => agents.current.voice.speak ?? agents.current.voice.name,
    thinking: () => agents.current.voice.thinking,
    endOfTurnModel: shared.endOfTurnModel,
  });
}

function toVoiceSession(session: AgentSession): VoiceSession {
  const { language, attributes = {} } = session.participants[0] ?? {};
  return { ...session, language, attributes };
}
