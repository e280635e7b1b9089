import { InferenceRunner } from "@livekit/agents";

/** LiveKit's name for the runner of its end-of-turn model. */
const END_OF_TURN = "lk_eot_audio";

/**
 * Keeps `new AgentServer` from starting its inference process (340 MB). The end-of-turn model runs in the worker's
 * speech process instead. LiveKit has no option for that. But it starts the process only if an enumerable runner is
 * registered, and does not register a runner whose name is taken. So this function registers a non-enumerable runner
 * under the model's name, and replaces the real runner if an earlier server in this process has registered it. If a
 * later version of LiveKit works differently, the process simply starts. Checked with @livekit/agents 1.9.0.
 */
export function keepInferenceProcessOff(): void {
  const runners: unknown = InferenceRunner.registeredRunners;
  if (typeof runners !== "object" || runners === null) return;
  Object.defineProperty(runners, END_OF_TURN, { value: "none", enumerable: false });
}
