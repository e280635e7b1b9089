import type { ModelEvent } from "../../llm/model-event.ts";
import type { SessionMedia } from "../record/session-media.ts";
import type { CountTokens, OpenStream } from "./open-stream.ts";

type Media = Pick<SessionMedia, "of">;

/** The model, which is handed the bytes that a history names. */
export function withMedia(openStream: OpenStream, media: Media): OpenStream {
  return (request, signal) => {
    const named = media.of(request.history);
    if (!named) return openStream(request, signal);
    return later(named.then((data) => openStream({ ...request, media: data }, signal)));
  };
}

/** The same for counting. */
export function countingWithMedia(countTokens: CountTokens, media: Media): CountTokens {
  return async (request, signal) => {
    const data = await media.of(request.history);
    return countTokens(data ? { ...request, media: data } : request, signal);
  };
}

async function* later(opened: Promise<AsyncIterable<ModelEvent>>): AsyncGenerator<ModelEvent> {
  yield* await opened;
}
