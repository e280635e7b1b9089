import { voice } from "@livekit/agents";
import { type AudioFrame, TrackPublishOptions, TrackSource, type Room } from "@livekit/rtc-node";
import { toAudioFrame } from "./audio-frame.ts";

const SAMPLE_RATE = 24_000;
const QUEUE_MS = 200;

/**
 * Creates the audio output that RoomIO would create, so that its track can be published before RoomIO starts. Checked
 * with @livekit/agents 1.9.0.
 */
export function createAudioOutput(room: Room): voice.ParticipantAudioOutput {
  const output = new voice.ParticipantAudioOutput(room, {
    sampleRate: SAMPLE_RATE,
    numChannels: 1,
    queueSizeMs: QUEUE_MS,
    trackPublishOptions: new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }),
  });
  playAgainAfterPause(output);
  return output;
}

/**
 * Makes the output replay the audio that a pause drops. A pause clears the track's queue (up to 200 ms), so without the
 * replay, each cough would cost the answer a syllable. The cleared frames are played first when the audio resumes, but
 * not after an interruption. Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
 */
function playAgainAfterPause(output: voice.ParticipantAudioOutput): void {
  const source = output["audioSource"];
  const captureFrame = source.captureFrame.bind(source);
  const clearQueue = source.clearQueue.bind(source);
  /** The newest frames, enough to fill the queue. */
  let recent: AudioFrame[] = [];
  let unplayed: AudioFrame[] = [];
  source.clearQueue = () => {
    const isPaused = !output["playbackEnabledFuture"].done && !output["interruptedFuture"].done;
    unplayed = isPaused ? [...newest(recent, source.queuedDuration), ...unplayed] : [];
    recent = [];
    clearQueue();
  };
  source.captureFrame = async (frame: AudioFrame) => {
    const generation = output["interruptionGeneration"];
    const frames = [...unplayed, frame];
    output["sourceDiscardedDuration"] -= secondsOf(unplayed);
    unplayed = [];
    for (const next of frames) {
      await Promise.race([output["playbackEnabledFuture"].await, output["interruptedFuture"].await]);
      if (output["interruptionGeneration"] !== generation) return;
      recent = newest([...recent, next], QUEUE_MS + msOf(next));
      await captureFrame(next);
    }
  };
}

/** Returns the last `ms` milliseconds of the frames' audio. */
function newest(frames: readonly AudioFrame[], ms: number): AudioFrame[] {
  const kept: AudioFrame[] = [];
  let left = ms;
  for (const frame of frames.toReversed()) {
    if (left <= 0) break;
    kept.unshift(left >= msOf(frame) ? frame : endOf(frame, left));
    left -= msOf(frame);
  }
  return kept;
}

function endOf({ data, sampleRate, channels, samplesPerChannel }: AudioFrame, ms: number): AudioFrame {
  const samples = Math.min(samplesPerChannel, Math.round((ms * sampleRate) / 1_000));
  return toAudioFrame(data.slice(data.length - samples * channels), sampleRate);
}

function msOf({ samplesPerChannel, sampleRate }: AudioFrame): number {
  return (samplesPerChannel / sampleRate) * 1_000;
}

function secondsOf(frames: readonly AudioFrame[]): number {
  return frames.reduce((total, frame) => total + msOf(frame), 0) / 1_000;
}

/**
 * Publishes the track. Resolves to true once a participant has subscribed to it; from then on `output.subscribed` stays
 * true. Resolves to false if it cannot be published or the signal aborts first. Checked with @livekit/agents 1.9.0.
 */
export async function publishUntilSubscribed(
  output: Pick<voice.ParticipantAudioOutput, "start">,
  signal: AbortSignal,
): Promise<boolean> {
  const isPublished = await output.start(signal).then(
    () => true,
    () => false,
  );
  return isPublished && !signal.aborted;
}

/** Returns how many seconds of the current audio have been played. Checked with @livekit/agents 1.9.0. */
export function playedSeconds(output: voice.ParticipantAudioOutput): number {
  const queuedSeconds = output["audioSource"].queuedDuration / 1_000;
  return Math.max(0, output["sourcePushedDuration"] - output["sourceDiscardedDuration"] - queuedSeconds);
}
