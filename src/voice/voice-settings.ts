import { z } from "zod";

const milliseconds = z.number().int().min(0).max(10_000);

/** `voice` in parley.config.ts: how a talk by voice goes. Who listens and speaks is chosen by the environment. */
export const voiceSchema = z.strictObject({
  /** Silence after which what was said counts as complete. */
  endOfTurnMs: milliseconds.default(500),
  /** `silence` alone, or also LiveKit's end-of-turn model, which waits longer for those who have not finished. */
  endOfTurn: z.enum(["silence", "model"]).default("silence"),
  /** Speech that lasts so long stops the agent's. */
  interruptAfterMs: milliseconds.default(150),
  /** An interruption in which nothing was said (a cough) is over after so much silence: the agent goes on. */
  resumeAfterMs: milliseconds.default(1_000),
  /** Said when speech was heard that could not be understood; "" says nothing. */
  notUnderstood: z.string().default("Sorry, I did not hear that."),
});

export type VoiceSettings = z.output<typeof voiceSchema>;
