import { z } from "zod";

const milliseconds = z.number().int().min(0).max(10_000);

/** `voice` in parley.config.ts. Which recogniser and which voice are used is chosen in the environment (STT, TTS). */
export const voiceSchema = z.strictObject({
  /** Silence, in ms, after which an utterance counts as complete. */
  endOfTurnMs: milliseconds.default(500),
  /** `model` also asks LiveKit's end-of-turn model, which waits longer for a participant who has not finished. */
  endOfTurn: z.enum(["silence", "model"]).default("silence"),
  /** Asks the model as soon as words are final, before the silence has lasted `endOfTurnMs`. */
  speculate: z.boolean().default(true),
  /** A participant's speech that lasts this long, in ms, stops the agent's speech. */
  interruptAfterMs: milliseconds.default(90),
  /** After an interruption without words (a cough) the agent goes on after this much silence, in ms. */
  resumeAfterMs: milliseconds.default(1_000),
  /** Said when a second or more of speech could not be understood; "" says nothing. */
  notUnderstood: z.string().default("Sorry, I did not hear that."),
});

export type VoiceSettings = z.output<typeof voiceSchema>;
