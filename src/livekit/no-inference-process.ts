import { InferenceRunner } from "@livekit/agents";

/** The end-of-turn model of @livekit/agents 1.9. */
const END_OF_TURN = "lk_eot_audio";

/**
 * Keeps `new AgentServer` from starting its inference process (340 MB), which only `endOfTurn: "model"` needs: a runner that is
 * there, but not listed, is neither registered again nor started. Leans on internals; when those have changed, it does
 * nothing and the process starts.
 */
export function keepInferenceProcessOff(): void {
  const runners: unknown = InferenceRunner.registeredRunners;
  if (typeof runners !== "object" || runners === null || END_OF_TURN in runners) return;
  Object.defineProperty(runners, END_OF_TURN, { value: "none", enumerable: false });
}
