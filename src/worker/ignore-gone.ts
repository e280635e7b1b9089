import { TwirpError } from "livekit-server-sdk";

/**
 * Ignores the error of a request for a participant that has already left. With several LiveKit servers, one of them may
 * still list the participant.
 */
export function ignoreGone(error: unknown): void {
  if (!(error instanceof TwirpError && (error.code === "not_found" || error.code === "unavailable"))) throw error;
}

/** Ignores the error of a request for a room that has already ended. Returns an empty list. */
export function ignoreMissing(error: unknown): [] {
  if (error instanceof TwirpError && error.code === "not_found") return [];
  throw error;
}
