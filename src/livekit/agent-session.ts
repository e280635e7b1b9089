import { getJobContext, llm, voice } from "@livekit/agents";
import { type Room } from "@livekit/rtc-node";

/** Hears of the words as they are played. */
interface WordSink {
  readonly captureText: (text: string | voice.TimedString) => Promise<void>;
  readonly flush: () => void;
}

interface RoomSessionOptions {
  readonly session: voice.AgentSession;
  readonly agent: voice.Agent;
  readonly room: Room;
  readonly hasEars: boolean;
  readonly hasMouth: boolean;
  readonly words: WordSink;
}

/**
 * Starts an AgentSession in a room in which it is a part only: nobody steers it but its agent, it tells the room no state,
 * and the job does not take it for its own. Checked with @livekit/agents 1.9.0.
 */
export async function startInRoom(options: RoomSessionOptions): Promise<voice.RoomIO> {
  const { session, agent, room, hasEars, hasMouth, words } = options;
  // Given a room, AgentSession would also let its participant steer it by a byte stream. RoomIO on its own does not, but
  // looks for the agent when it starts.
  session["agent"] = agent;
  const io = new voice.RoomIO({
    agentSession: session,
    room,
    inputOptions: { textEnabled: false, audioEnabled: hasEars, closeOnDisconnect: false },
    outputOptions: { audioEnabled: hasMouth },
  });
  io.start();
  // The state that clients see is ours: it knows of turns and tools, too.
  session.off(voice.AgentSessionEventTypes.AgentStateChanged, io["onAgentStateChanged"]);
  io["agentTranscriptOutput"]?._sinks.push(words);
  await session.start({ agent, record: false });
  disown(session);
  return io;
}

/**
 * LiveKit ends what it takes for a job's session before it says that the job ends: the speech would be cut off, and count
 * as heard, while its turn still has time to end by itself.
 */
function disown(session: voice.AgentSession): void {
  const job = getJobContext(false);
  if (job?._primaryAgentSession === session) delete job._primaryAgentSession;
}

/**
 * AgentSession keeps what was said, in its history and in its agent's context, and both grow for as long as it lives;
 * nobody reads them here. A history of one item is the shortest that it takes. Checked with @livekit/agents 1.9.0.
 */
export function forgetWhatWasSaid(session: voice.AgentSession): void {
  session.history.truncate(1);
  session.currentAgent.updateChatCtx(llm.ChatContext.empty()).catch(() => {});
}
