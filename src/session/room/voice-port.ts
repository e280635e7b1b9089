/** What speaks a room's answers and hears its participants. Without one, the session is text only. */
export interface VoicePort {
  /** Whether it has both a mouth and ears: whoever has nothing but a telephone can be asked, and can answer. */
  readonly isTwoWay: boolean;
  /**
   * Begins to speak an answer; undefined when nobody listens. The session opens one at a time, after the one before has
   * ended.
   */
  readonly open: (answer: AnswerToSpeak) => SpokenAnswer | undefined;
  /**
   * Resolves at once, or, while the participant is speaking, when it is silent again: what it says may be the rest of
   * its question, and then the turn is aborted instead. Rejects with the signal's reason.
   */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  /** While `false`, what the participant says does not stop the speech; it is heard, and handed on, all the same. */
  readonly setInterruptible: (isInterruptible: boolean) => void;
}

export interface Transcript {
  /** One for all that is said in one go: the id that its message will have. */
  readonly id: string;
  readonly text: string;
  /** BCP 47, if the recogniser says it. */
  readonly language: string | undefined;
}

export interface AnswerToSpeak {
  /** The StartAnswer's id. */
  readonly messageId: string;
  /** Whose turn it is. */
  readonly participant: string;
  /** BCP 47. */
  readonly language: string | undefined;
  /** Called with the answer's own text piece by piece, as it begins to be heard. */
  readonly onHeard: (text: string) => void;
  /** The participant spoke over the answer: no more of it will be heard. */
  readonly onInterrupted: () => void;
  /** No more of the answer can be spoken; it is to be shown all the same. */
  readonly onUnspoken: () => void;
}

/** One answer on its way to the ear. Nothing here throws, and nothing but what returns a promise waits. */
export interface SpokenAnswer {
  readonly write: (text: string) => void;
  /** A wait follows: what was written is spoken now, not held back for the end of its sentence. */
  readonly flush: () => void;
  /** Said after what was written before it. Not part of the answer: neither the record nor the model knows of it. */
  readonly aside: (text: string) => Aside;
  /** Resolves when what was written so far has been heard, or will not be any more. */
  readonly untilHeard: () => Promise<void>;
  /** Stops speaking; the turn goes on, and its words are still shown. */
  readonly silence: () => void;
  /** Stops speaking for good: what was not heard by now never will be. */
  readonly stop: () => void;
  /** No more words come. Resolves when the last has been heard or the speech was cut off. */
  readonly end: () => Promise<SpeechEnd>;
}

export interface Aside {
  /** `false`: it was cut before it was said in full. */
  readonly spoken: Promise<boolean>;
  /** Ends it, also in the middle of a word. Does nothing when it has been said. */
  readonly cut: () => void;
}

export interface SpeechEnd {
  /** What of the answer's own text was heard; undefined when all of it was, or nothing was to be spoken. */
  readonly heard: string | undefined;
}
