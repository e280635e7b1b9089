import { getJobContext, llm, voice } from "@livekit/agents";
import { AudioStream, type Room, type Track } from "@livekit/rtc-node";

/** Sample rate for VAD and recognizers. Both use 16 kHz; AgentSession's 24 kHz would have to be resampled by each. */
const HEARD_RATE = 16_000;
/**
 * One window of the VAD model. LiveKit's default of 10 ms passes three times as many frames and detects nothing sooner.
 */
const HEARD_FRAME_MS = 32;

interface RoomSessionOptions {
  readonly session: voice.AgentSession;
  readonly agent: voice.Agent;
  readonly room: Room;
  readonly hasEars: boolean;
  readonly hasMouth: boolean;
}

/**
 * Starts an AgentSession that does not own its room: participants cannot control it, it does not publish its state, and
 * the job does not close it on its own. Checked with @livekit/agents 1.9.0.
 */
export async function startInRoom(options: RoomSessionOptions): Promise<voice.RoomIO> {
  const { session, agent, room, hasEars, hasMouth } = options;
  // If AgentSession got the room itself, participants could control it by byte stream. Our own RoomIO avoids that, but
  // needs the session's agent before the session has started.
  session["agent"] = agent;
  const io = new voice.RoomIO({
    agentSession: session,
    room,
    inputOptions: { textEnabled: false, audioEnabled: hasEars, audioSampleRate: HEARD_RATE, closeOnDisconnect: false },
    outputOptions: { audioEnabled: hasMouth },
  });
  io.start();
  hearInWindows(io);
  // Parley publishes the agent's state itself, because it also depends on turns and tools.
  session.off(voice.AgentSessionEventTypes.AgentStateChanged, io["onAgentStateChanged"]);
  await session.start({ agent, record: false });
  disown(session);
  return io;
}

/**
 * RoomIO has no option for the frame length. The first track is opened later, so replacing `createStream` is in time.
 */
function hearInWindows(io: voice.RoomIO): void {
  const input = io["audioInput"];
  if (!input) return;
  input["createStream"] = (track: Track) =>
    new AudioStream(track, { sampleRate: HEARD_RATE, numChannels: 1, frameSizeMs: HEARD_FRAME_MS });
}

/**
 * Keeps LiveKit from closing the AgentSession before it notifies the job that it ends. Otherwise the speech would be
 * cut off, and count as played, although its turn still has time to end normally.
 */
function disown(session: voice.AgentSession): void {
  const job = getJobContext(false);
  if (job?._primaryAgentSession === session) delete job._primaryAgentSession;
}

/**
 * Clears AgentSession's history and its agent's context. Parley does not read them, and they would grow forever. One
 * item is the shortest history that `truncate` allows. Checked with @livekit/agents 1.9.0.
 */
export function forgetWhatWasSaid(session: voice.AgentSession): void {
  session.history.truncate(1);
  session.currentAgent.updateChatCtx(llm.ChatContext.empty()).catch(() => {});
}
