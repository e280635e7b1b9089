/** Speaks a room's answers and hears its participants. A session without one is text only. */
export interface VoicePort {
  /** Whether it both speaks and listens, so that a caller by telephone can be asked and can answer. */
  readonly isTwoWay: boolean;
  /**
   * Begins to speak an answer; `undefined` when nobody listens. The session opens the next one when the last has ended.
   */
  readonly open: (answer: AnswerToSpeak) => SpokenAnswer | undefined;
  /**
   * Makes the sound of a sentence that an answer will probably begin with. Nothing of it is heard, unless an answer in this
   * language does begin so. The function that is returned throws the sound away.
   */
  readonly prepare: (sentence: string, language: string | undefined) => () => void;
  /**
   * Resolves when the participant is silent, which may be at once. What it says may be the rest of its question; then
   * the turn is aborted. Rejects with the signal's reason.
   */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  /** While `false`, what the participant says does not stop the speech. It is still heard and handed on. */
  readonly setInterruptible: (isInterruptible: boolean) => void;
}

export interface Transcript {
  /** The same for all transcripts of one utterance: its message will have this id. */
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
  /** Called with each piece of the answer's own text when it begins to be heard. */
  readonly onHeard: (text: string) => void;
  /** The participant spoke over the answer: no more of it will be heard. */
  readonly onInterrupted: () => void;
  /** No more of the answer can be spoken. The rest is to be shown. */
  readonly onUnspoken: () => void;
}

/** One answer while it is spoken. Nothing here throws, and only what returns a promise waits. */
export interface SpokenAnswer {
  readonly write: (text: string) => void;
  /** Speaks what was written now, without waiting for the end of its sentence. */
  readonly flush: () => void;
  /** Says words that are no part of the answer after those written before: they are not stored or told to the model. */
  readonly aside: (text: string) => Aside;
  /** Resolves when all that was written so far has been heard, or will not be. */
  readonly untilHeard: () => Promise<void>;
  /** Stops speaking. The turn goes on, and its words are still shown. */
  readonly silence: () => void;
  /** Stops speaking for good. What has not been heard by now never will be. */
  readonly stop: () => void;
  /** No more words come. Resolves when the last has been heard or the speech was cut off. */
  readonly end: () => Promise<SpeechEnd>;
}

export interface Aside {
  /** `false`: the aside was cut before it was said in full. */
  readonly spoken: Promise<boolean>;
  /** Ends the aside, even in the middle of a word. Does nothing when it has been said. */
  readonly cut: () => void;
}

export interface SpeechEnd {
  /** The part of the answer's own text that was heard; `undefined` when all of it was, or none was to be spoken. */
  readonly heard: string | undefined;
}
