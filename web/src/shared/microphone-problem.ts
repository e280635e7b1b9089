export type MicrophoneProblem = "denied" | "missing" | "nobody_listens" | "failed";

/** Returns why the browser has not opened a microphone. */
export function problemOf(error: unknown): MicrophoneProblem {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "failed";
}
