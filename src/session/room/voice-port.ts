import type { TurnEndJudgment } from "../../conversation/turn-timings.ts";

/** Speaks a room's answers and listens to its participants. A session without a voice is text only. */
export interface VoicePort {
  /** Whether the voice both speaks and listens, so that a phone caller can be asked a question and can answer. */
  readonly isTwoWay: boolean;
  readonly listens: boolean;
  readonly speaks: boolean;
  /** Whether participants say themselves when a spoken turn begins and ends. */
  readonly hasManualTurns: boolean;
  /**
   * Starts speaking an answer. Returns `undefined` if nobody is listening. Open the next answer only after this one has
   * ended.
   */
  readonly open: (answer: AnswerToSpeak) => SpokenAnswer | undefined;
  /**
   * Synthesizes the piece (a sentence or a clause) that an answer will probably start with. The audio is played only if
   * an answer in this language does start with that piece. The returned function discards the audio.
   */
  readonly prepare: (piece: string, language: string | undefined) => () => void;
  /**
   * Resolves when no participant is speaking, possibly at once. Rejects with the signal's reason, for example because
   * the participant continued to speak and the turn was aborted.
   */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  /** Sets whether participants can interrupt the speech. If not, their words are still recognized and passed on. */
  readonly setInterruptible: (isInterruptible: boolean) => void;
}

export interface Transcript {
  /** Identical for all transcripts of one utterance. Becomes the id of its message. */
  readonly id: string;
  readonly text: string;
  /** BCP 47, if the recognizer reports it. */
  readonly language: string | undefined;
  /** When a complete utterance was spoken, if the voice has measured it. */
  readonly spoken?: SpokenTimes | undefined;
  /**
   * Whether the text may include another participant's words. If so, it does not count as the answer to a question.
   *
   * @defaultValue false
   */
  readonly isMixed?: boolean;
}

/** When an utterance was spoken, in Unix ms. */
export interface SpokenTimes {
  readonly fromAt: number;
  /** When the utterance's last sound ended. */
  readonly toAt: number;
  readonly turnEnd?: TurnEndJudgment | undefined;
}

export interface AnswerToSpeak {
  /** The id of the answer's StartAnswer. */
  readonly messageId: string;
  /** The participant whose turn it is. */
  readonly participant: string;
  /** BCP 47. */
  readonly language: string | undefined;
  /** Called with each piece of the answer's own text when its playback begins. */
  readonly onPlayed: (text: string) => void;
  /** Called when the participant speaks over the answer. The rest will not be played. */
  readonly onInterrupted: () => void;
  /** Called when no more of the answer can be spoken. The rest must be shown. */
  readonly onUnspoken: () => void;
}

/** An answer that is being spoken. No method throws or blocks. */
export interface SpokenAnswer {
  readonly write: (text: string) => void;
  /** Speaks the last sentence without waiting for what follows, because a sentence is known to end here. */
  readonly endSentence: () => void;
  /** Speaks what was written so far, without waiting for the end of the sentence. */
  readonly flush: () => void;
  /**
   * Speaks the worker's own words after everything written before. They are not part of the answer, and the model never
   * sees them. `onBegun` is called once, when their playback begins.
   */
  readonly aside: (aside: { readonly text: string; readonly onBegun?: () => void }) => Aside;
  /**
   * Lets the agent be heard thinking (`voice.thinking`) if nothing is spoken for a while. Ends when the signal aborts,
   * when something is spoken, and when a participant speaks.
   */
  readonly think: (signal: AbortSignal) => void;
  /** Resolves once everything written so far has been played or dropped. */
  readonly untilPlayed: () => Promise<void>;
  /** Stops speaking. The turn continues, and its text is still shown. */
  readonly silence: () => void;
  /** Stops speaking for good. Drops what was not played yet. */
  readonly stop: () => void;
  /** Call this after the last words. Resolves when they have been played or the speech was cut off. */
  readonly end: () => Promise<SpeechEnd>;
}

export interface Aside {
  /** Resolves to `false` if the aside was cut off before it was played in full. */
  readonly spoken: Promise<boolean>;
  /** Cuts the aside off, even in the middle of a word. Does nothing if it was already played. */
  readonly cut: () => void;
}

export interface SpeechEnd {
  /** The played part of the answer's text; `undefined` if all of it was played or there was nothing to speak. */
  readonly heard: string | undefined;
}
