import { InferenceRunner } from "@livekit/agents";

/** LiveKit's name for the runner of its end-of-turn model. */
const END_OF_TURN = "lk_eot_audio";

/**
 * Keeps `new AgentServer` from starting its inference process (340 MB), which only `endOfTurn: "model"` needs. LiveKit
 * has no option for that, but a non-enumerable runner is neither registered again nor started. That includes a runner
 * that an earlier server in this process has registered. If a later version works differently, the process simply
 * starts. Checked with @livekit/agents 1.9.0.
 */
export function keepInferenceProcessOff(): void {
  const runners: unknown = InferenceRunner.registeredRunners;
  if (typeof runners !== "object" || runners === null) return;
  Object.defineProperty(runners, END_OF_TURN, { value: "none", enumerable: false });
}
