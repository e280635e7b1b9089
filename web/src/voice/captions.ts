import { ParticipantKind, type Room } from "livekit-client";
import { useEffect } from "react";
import { watchedValue } from "../shared/watched-value.ts";

/** LiveKit's topic on which an agent sends its words in step with their sound. */
const TOPIC = "lk.transcription";
const caption = watchedValue("");

/** The words that the agent's current speech has said so far. */
export const useCaption = caption.use;

/** Adds words to the caption as they arrive. Never rejects. */
async function follow(words: AsyncIterable<string>): Promise<void> {
  let said = "";
  try {
    for await (const more of words) caption.set((said += more));
  } catch {
    // The connection was lost. The next words begin a new caption.
  }
}

/** Follows the agent's words while they are heard. */
export function useCaptions(room: Room): void {
  useEffect(() => {
    room.registerTextStreamHandler(TOPIC, (reader, { identity }) => {
      const isAgent = room.remoteParticipants.get(identity)?.kind === ParticipantKind.AGENT;
      // Text that is not spoken comes without a track.
      if (isAgent && reader.info.attributes?.["lk.transcribed_track_id"] !== undefined) void follow(reader);
    });
    return () => {
      room.unregisterTextStreamHandler(TOPIC);
      caption.set("");
    };
  }, [room]);
}
