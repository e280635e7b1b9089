import type { ReadableStream } from "node:stream/web";
import { getJobContext, llm, voice } from "@livekit/agents";
import { type AudioFrame, AudioStream, type Room, type Track } from "@livekit/rtc-node";

/**
 * The sample rate of the audio for VAD and recognizers. All of them use 16 kHz: at AgentSession's usual 24 kHz, each of
 * them would have to resample.
 */
const INPUT_SAMPLE_RATE = 16_000;
/**
 * The length of an input frame: one window of the VAD model. LiveKit's default of 10 ms produces three times as many
 * frames without detecting speech any sooner.
 */
const INPUT_FRAME_MS = 32;

type WrapAudio = (track: Track, live: ReadableStream<AudioFrame>) => ReadableStream<AudioFrame>;

interface RoomSessionOptions {
  readonly session: voice.AgentSession;
  readonly agent: voice.Agent;
  readonly room: Room;
  /** Wraps the audio of each track that is listened to. Undefined: the session listens to nobody. */
  readonly listen: WrapAudio | undefined;
  readonly canSpeak: boolean;
}

/**
 * Starts an AgentSession that does not own its room: participants cannot control it, it does not publish its state, and
 * the job does not close it on its own. Checked with @livekit/agents 1.9.0.
 */
export async function startInRoom(options: RoomSessionOptions): Promise<voice.RoomIO> {
  const { session, agent, room, listen, canSpeak } = options;
  // If AgentSession received the room itself, participants could control it by byte stream. Creating RoomIO here avoids
  // that, but RoomIO needs the session's agent before the session has started.
  session["agent"] = agent;
  const io = new voice.RoomIO({
    agentSession: session,
    room,
    inputOptions: {
      textEnabled: false,
      audioEnabled: listen !== undefined,
      audioSampleRate: INPUT_SAMPLE_RATE,
      closeOnDisconnect: false,
    },
    outputOptions: { audioEnabled: canSpeak },
  });
  io.start();
  if (listen) replaceInput(io, listen);
  // Parley publishes the agent's state itself, because it also depends on turns and tools.
  session.off(voice.AgentSessionEventTypes.AgentStateChanged, io["onAgentStateChanged"]);
  await session.start({ agent, record: false });
  disown(session);
  return io;
}

/**
 * Makes RoomIO read tracks through `listen`. By itself, RoomIO has no option for the frame length, and ignores the
 * audio that participants recorded before the agent joined. Replacing `createStream` here is early enough, because the
 * first track is opened later.
 */
function replaceInput(io: voice.RoomIO, listen: WrapAudio): void {
  const input = io["audioInput"];
  if (!input) return;
  const live = { sampleRate: INPUT_SAMPLE_RATE, numChannels: 1, frameSizeMs: INPUT_FRAME_MS };
  // RoomIO only reads from the AudioStream, so any readable stream of frames will do.
  input["createStream"] = (track: Track) => listen(track, new AudioStream(track, live)) as unknown as AudioStream;
}

/**
 * Keeps LiveKit from closing the AgentSession before LiveKit notifies the job that it must end. Otherwise, the agent's
 * speech would be cut off and counted as played, although the turn still has time to end normally.
 */
function disown(session: voice.AgentSession): void {
  const job = getJobContext(false);
  if (job?._primaryAgentSession === session) delete job._primaryAgentSession;
}

/**
 * Clears AgentSession's history and its agent's context, which would grow forever. Parley reads neither. One item is
 * the shortest history that `truncate` allows. Checked with @livekit/agents 1.9.0.
 */
export function clearChatHistory(session: voice.AgentSession): void {
  session.history.truncate(1);
  session.currentAgent.updateChatCtx(llm.ChatContext.empty()).catch(() => {});
}

/**
 * Resumes the speech that a participant's sound has paused, without waiting for `resumeAfterMs`. Does nothing if no
 * speech is paused. Checked with @livekit/agents 1.9.0.
 */
export function resumeSpeech(session: voice.AgentSession): void {
  const activity = session["activity"];
  if (activity?.["pausedSpeech"]) activity["startFalseInterruptionTimer"](0);
}
