import { InferenceRunner } from "@livekit/agents";

/** The end-of-turn model. */
const END_OF_TURN = "lk_eot_audio";

/**
 * Keeps `new AgentServer` from starting its inference process (340 MB), which only `endOfTurn: "model"` needs, and for which
 * LiveKit has no option. A runner that is there, but not listed, is neither registered again nor started. When LiveKit
 * does that in another way this does nothing, and the process starts. Checked with @livekit/agents 1.9.0.
 */
export function keepInferenceProcessOff(): void {
  const runners: unknown = InferenceRunner.registeredRunners;
  if (typeof runners !== "object" || runners === null || END_OF_TURN in runners) return;
  Object.defineProperty(runners, END_OF_TURN, { value: "none", enumerable: false });
}
