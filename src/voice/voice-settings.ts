import { z } from "zod";

const milliseconds = z.number().int().min(0).max(10_000);

/** `voice` in parley.config.ts. The recognizer and the voice are chosen in the environment (STT, TTS). */
export const voiceSchema = z.strictObject({
  /** After this much silence, in ms, an utterance is complete. */
  endOfTurnMs: milliseconds.default(500),
  /** `model` also asks LiveKit's end-of-turn model, which waits longer for a participant who has not finished. */
  endOfTurn: z.enum(["silence", "model"]).default("silence"),
  /**
   * Whether preemptive generation is on: the model is called as soon as words are final, before `endOfTurnMs` of
   * silence.
   */
  speculate: z.boolean().default(true),
  /** Whether `STT=embedded` also shows the words while a participant speaks. This uses a tenth of a core. */
  interimTranscripts: z.boolean().default(true),
  /** How long a participant must speak to interrupt the agent's speech, in ms. */
  interruptAfterMs: milliseconds.default(90),
  /** After an interruption without words, such as a cough, the agent resumes after this much silence, in ms. */
  resumeAfterMs: milliseconds.default(1_000),
  /** How the voice pronounces words, such as `{ Parley: "par-lee" }`. Captions keep the words. */
  pronounce: z.record(z.string().min(1), z.string()).default({}),
  /** Spoken if a second or more of speech was not understood. `""` disables it. */
  notUnderstood: z.string().default("Sorry, I did not hear that."),
});

export type VoiceSettings = z.output<typeof voiceSchema>;
