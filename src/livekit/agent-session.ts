import { getJobContext, llm, voice } from "@livekit/agents";
import { AudioStream, type Room, type Track } from "@livekit/rtc-node";

/** Sample rate for VAD and recognizers. Both use 16 kHz, and would each have to resample AgentSession's 24 kHz. */
const HEARD_RATE = 16_000;
/**
 * One window of the VAD model. LiveKit's default of 10 ms produces three times as many frames without detecting speech
 * any sooner.
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
  // If AgentSession received the room itself, participants could control it by byte stream. Creating RoomIO here avoids
  // that, but RoomIO needs the session's agent before the session has started.
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
 * RoomIO has no option for the frame length. Replacing `createStream` here is early enough, because the first track is
 * opened later.
 */
function hearInWindows(io: voice.RoomIO): void {
  const input = io["audioInput"];
  if (!input) return;
  input["createStream"] = (track: Track) =>
    new AudioStream(track, { sampleRate: HEARD_RATE, numChannels: 1, frameSizeMs: HEARD_FRAME_MS });
}

/**
 * Keeps LiveKit from closing the AgentSession before LiveKit notifies the job of its end. Otherwise the speech would be
 * cut off and counted as played, although its turn still has time to end normally.
 */
function disown(session: voice.AgentSession): void {
  const job = getJobContext(false);
  if (job?._primaryAgentSession === session) delete job._primaryAgentSession;
}

/**
 * Clears AgentSession's history and its agent's context, which would grow forever. Parley reads neither. One item is
 * the shortest history that `truncate` allows. Checked with @livekit/agents 1.9.0.
 */
export function forgetWhatWasSaid(session: voice.AgentSession): void {
  session.history.truncate(1);
  session.currentAgent.updateChatCtx(llm.ChatContext.empty()).catch(() => {});
}
