import { voice } from "@livekit/agents";
import { TrackPublishOptions, TrackSource, type Room } from "@livekit/rtc-node";

const SAMPLE_RATE = 24_000;
const QUEUE_MS = 200;

/**
 * The audio track that RoomIO makes for itself, made by us, because RoomIO publishes it only when it starts.
 * Checked with @livekit/agents 1.9.0.
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
 * Publishes the track. Resolves when somebody has subscribed to it, and to false when it cannot be published or the
 * signal is aborted before. From then on `output.subscribed` stays true. Checked with @livekit/agents 1.9.0.
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
