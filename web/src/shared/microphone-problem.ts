export type MicrophoneProblem = "denied" | "missing" | "nobody_listens" | "failed";

/** What people are shown. */
export const MICROPHONE_PROBLEMS: Readonly<Record<MicrophoneProblem, string>> = {
  denied: "The browser does not let this page use the microphone. Allow it next to the address, then try again.",
  missing: "There is no microphone. Connect one, or type instead.",
  nobody_listens: "No agent is listening to your microphone, so it was turned off. Type instead, or try again.",
  failed: "The microphone does not work. If another program is using it, close that program, then try again.",
};

/** Returns why the browser has not opened a microphone. */
export function problemOf(error: unknown): MicrophoneProblem {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "failed";
}
