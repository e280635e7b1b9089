import { getJobContext, llm, voice } from "@livekit/agents";
import { AudioStream, type Room, type Track } from "@livekit/rtc-node";

/** What the voice activity's model hears, and recognisers as well: each would make it of AgentSession's 24,000. */
const HEARD_RATE = 16_000;
/** One window of that model. LiveKit's 10 ms are three times as many frames to hand on, and nothing is noticed sooner. */
const HEARD_FRAME_MS = 32;

/** Gets the words as they are played. */
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
 * Starts an AgentSession that does not own its room: participants cannot steer it, it does not publish its state, and
 * the job does not end it by itself. Checked with @livekit/agents 1.9.0.
 */
export async function startInRoom(options: RoomSessionOptions): Promise<voice.RoomIO> {
  const { session, agent, room, hasEars, hasMouth, words } = options;
  // If AgentSession got the room, it would let a participant steer it by a byte stream. A RoomIO of our own does not do
  // that, but it needs the session's agent before the session has started.
  session["agent"] = agent;
  const io = new voice.RoomIO({
    agentSession: session,
    room,
    inputOptions: { textEnabled: false, audioEnabled: hasEars, audioSampleRate: HEARD_RATE, closeOnDisconnect: false },
    outputOptions: { audioEnabled: hasMouth },
  });
  io.start();
  hearInWindows(io);
  // Our session publishes the agent's state, which also depends on turns and tools.
  session.off(voice.AgentSessionEventTypes.AgentStateChanged, io["onAgentStateChanged"]);
  io["agentTranscriptOutput"]?._sinks.push(words);
  await session.start({ agent, record: false });
  disown(session);
  return io;
}

/** RoomIO has no option for the length of a frame. It opens the first track only later. */
function hearInWindows(io: voice.RoomIO): void {
  const input = io["audioInput"];
  if (!input) return;
  input["createStream"] = (track: Track) =>
    new AudioStream(track, { sampleRate: HEARD_RATE, numChannels: 1, frameSizeMs: HEARD_FRAME_MS });
}

/**
 * Keeps LiveKit from ending the AgentSession before it tells the job that it ends. Otherwise the speech would be cut
 * off, and count as heard, while its turn still has time to end by itself.
 */
function disown(session: voice.AgentSession): void {
  const job = getJobContext(false);
  if (job?._primaryAgentSession === session) delete job._primaryAgentSession;
}

/**
 * Empties AgentSession's history and its agent's context, which we do not read and which would grow for ever. A history
 * of one item is the shortest that it takes. Checked with @livekit/agents 1.9.0.
 */
export function forgetWhatWasSaid(session: voice.AgentSession): void {
  session.history.truncate(1);
  session.currentAgent.updateChatCtx(llm.ChatContext.empty()).catch(() => {});
}
