import { TwirpError } from "livekit-server-sdk";

/** The participant has left before we asked. One of several LiveKit servers may still list it. */
export function ignoreGone(error: unknown): void {
  if (!(error instanceof TwirpError && (error.code === "not_found" || error.code === "unavailable"))) throw error;
}

/** The room has ended before we asked. */
export function ignoreMissing(error: unknown): [] {
  if (error instanceof TwirpError && error.code === "not_found") return [];
  throw error;
}
