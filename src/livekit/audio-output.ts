import { voice } from "@livekit/agents";
import { TrackPublishOptions, TrackSource, type Room } from "@livekit/rtc-node";

const SAMPLE_RATE = 24_000;
const QUEUE_MS = 200;

/**
 * Makes the audio track that RoomIO would make: we publish it before RoomIO starts. Checked with @livekit/agents 1.9.0.
 */
export function createAudioOutput(room: Room): voice.ParticipantAudioOutput {
  return new voice.ParticipantAudioOutput(room, {
    sampleRate: SAMPLE_RATE,
    numChannels: 1,
    queueSizeMs: QUEUE_MS,
    trackPublishOptions: new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }),
  });
}

/**
 * Publishes the track. Resolves to true when a participant has subscribed to it; from then on `output.subscribed` stays
 * true. Resolves to false when it cannot be published, or the signal aborts first. Checked with @livekit/agents 1.9.0.
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
