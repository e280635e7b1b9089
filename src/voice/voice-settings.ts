import { z } from "zod";
import { speechPluginFields } from "../agent/plugins/speech-plugins.ts";
import { thinkingSchema } from "../agent/thinking.ts";

const COMPLETE_MS = 300;
const INCOMPLETE_MS = 1_200;
const SILENCE_MS = 500;

/** Returns the words that the voice says in place of `text`. `signal` is aborted at the deadline. */
export type Speakable = (
  text: string,
  context: { readonly language: string | undefined; readonly signal: AbortSignal },
) => string | Promise<string>;

const speakable = z.custom<Speakable>((value) => typeof value === "function");

const milliseconds = z.number().int().min(0).max(10_000);

/** `voice` in parley.config.ts. Without `listen` or `speak`, the environment chooses the provider (STT, TTS). */
export const voiceSchema = z.strictObject({
  ...speechPluginFields,
  /**
   * Who decides when a turn starts and ends. `auto`: the worker, by sound and words. `manual`: the participants, with
   * the remote methods `start_turn`, `end_turn` and `cancel_turn`, as for a push-to-talk button.
   */
  turns: z.enum(["auto", "manual"]).default("auto"),
  /**
   * After how much silence a turn ends, in ms. A number: always after this silence. An object: after `complete` if the
   * participant seems to have finished, and otherwise after `incomplete`.
   *
   * @defaultValue `{ complete: 300, incomplete: 1200 }`, or 500 if nothing can judge that
   */
  endOfTurnMs: z
    .union([
      milliseconds,
      z.strictObject({ complete: milliseconds.default(COMPLETE_MS), incomplete: milliseconds.default(INCOMPLETE_MS) }),
    ])
    .optional(),
  /**
   * `auto` judges whether a participant has finished. `silence` only waits. `model` is the former name of `auto`.
   *
   * @defaultValue `silence` if `endOfTurnMs` is a number, otherwise `auto`
   */
  endOfTurn: z.enum(["auto", "silence", "model"]).optional(),
  /**
   * Whether preemptive generation is on: the model is called as soon as words are final, before `endOfTurnMs` of
   * silence.
   */
  speculate: z.boolean().default(true),
  /** Whether `STT=embedded` also shows the words while a participant speaks. This uses a tenth of a core. */
  interimTranscripts: z.boolean().default(true),
  /** Names that `STT=embedded` may not know, such as `["Parley"]`. Words that sound like one are replaced by it. */
  keyterms: z.array(z.string().trim().min(2).max(60)).max(100).default([]),
  /** How long a participant must speak to interrupt the agent's speech, in ms. */
  interruptAfterMs: milliseconds.default(90),
  /**
   * What participants say while they listen, by language, such as `{ en: ["sure thing"] }`. It does not interrupt the
   * agent's speech. Added to "mhm", "yes", "okay" and the like.
   */
  backchannels: z.record(z.string().regex(/^[a-z]{2}$/u), z.array(z.string())).default({}),
  /** After an interruption without words, such as a cough, the agent resumes after this much silence, in ms. */
  resumeAfterMs: milliseconds.default(1_000),
  /** How the voice pronounces words, such as `{ Parley: "par-lee" }`. Captions keep the words. */
  pronounce: z.record(z.string().min(1), z.string()).default({}),
  /**
   * Rewrites each sentence for the voice, after Parley's own rules and `pronounce`. Captions keep the words.
   *
   * @defaultValue `withinMs` is 50
   */
  speakable: z
    .union(
      [speakable, z.strictObject({ run: speakable, withinMs: z.int().min(1).max(5_000).exactOptional() })],
      "expected a function or {run: function, withinMs: 1 to 5000}",
    )
    .optional(),
  /**
   * What is heard while the model keeps a participant waiting: `sound`, words, or `{ sound: "file.wav" }`.
   *
   * @defaultValue nothing
   */
  thinking: thinkingSchema.optional(),
  /** Spoken if a second or more of speech was not understood. `""` disables it. */
  notUnderstood: z.string().default("Sorry, I did not hear that."),
});

export type VoiceSettings = z.output<typeof voiceSchema>;

/** After how much silence a turn ends, in ms. */
export interface EndOfTurn {
  readonly isJudged: boolean;
  readonly completeMs: number;
  /** The same as `completeMs` unless the end is judged. */
  readonly incompleteMs: number;
}

/** @param canJudge whether there is a model that judges the sound */
export function endOfTurnOf({ turns, endOfTurn, endOfTurnMs }: VoiceSettings, canJudge: boolean): EndOfTurn {
  // The participant has said that the turn is over. The rest of the silence would only delay the answer.
  if (turns === "manual") return { isJudged: false, completeMs: 0, incompleteMs: 0 };
  const isNumber = typeof endOfTurnMs === "number";
  const isJudged = canJudge && (endOfTurn ?? (isNumber ? "silence" : "auto")) !== "silence";
  const { complete, incomplete } = isNumber
    ? { complete: endOfTurnMs, incomplete: Math.max(endOfTurnMs, INCOMPLETE_MS) }
    : (endOfTurnMs ?? { complete: isJudged ? COMPLETE_MS : SILENCE_MS, incomplete: INCOMPLETE_MS });
  return { isJudged, completeMs: complete, incompleteMs: isJudged ? incomplete : complete };
}
