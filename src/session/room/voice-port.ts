/** Speaks a room's answers and hears its participants. A session without one is text only. */
export interface VoicePort {
  /** Whether it both speaks and listens, so that a caller by telephone can be asked and can answer. */
  readonly isTwoWay: boolean;
  /** Whether it understands what participants say. */
  readonly listens: boolean;
  /** Whether it speaks. */
  readonly speaks: boolean;
  /**
   * Begins to speak an answer; `undefined` when nobody listens. The session opens the next one when the last has ended.
   */
  readonly open: (answer: AnswerToSpeak) => SpokenAnswer | undefined;
  /**
   * Makes the sound of a sentence with which an answer will probably begin. It is heard only if an answer in this
   * language does begin so. The returned function throws the sound away.
   */
  readonly prepare: (sentence: string, language: string | undefined) => () => void;
  /**
   * Resolves when the participant is silent, which may be at once. If it goes on with its question, the turn is
   * aborted. Rejects with the signal's reason.
   */
  readonly untilQuiet: (signal: AbortSignal) => Promise<void>;
  /** While `false`, the participant's words do not stop the speech. They are still heard and handed on. */
  readonly setInterruptible: (isInterruptible: boolean) => void;
}

export interface Transcript {
  /** The same for all transcripts of one utterance. Its message will have this id. */
  readonly id: string;
  readonly text: string;
  /** BCP 47, if the recogniser says it. */
  readonly language: string | undefined;
  /** Of a whole utterance, where the voice has measured it. */
  readonly spoken?: SpokenTimes | undefined;
  /** Whether words of another participant may be among them: then they answer no question. @defaultValue false */
  readonly isMixed?: boolean;
}

/** When something was said, in Unix ms. */
export interface SpokenTimes {
  readonly fromAt: number;
  /** The last sound of it. */
  readonly toAt: number;
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
  /** Speaks what was written so far, without waiting for the end of the sentence. */
  readonly flush: () => void;
  /**
   * Says words of the worker after those written before. They are no part of the answer, and the model does not know.
   * `onBegun` is called once, when they begin to be heard.
   */
  readonly aside: (aside: { readonly text: string; readonly onBegun?: () => void }) => Aside;
  /** Resolves when everything that was written so far has been heard, or will not be. */
  readonly untilHeard: () => Promise<void>;
  /** Stops speaking. The turn goes on, and its words are still shown. */
  readonly silence: () => void;
  /** Stops speaking for good. What was not heard so far will not be. */
  readonly stop: () => void;
  /** No more words come. Resolves when the last has been heard or the speech was cut off. */
  readonly end: () => Promise<SpeechEnd>;
}

export interface Aside {
  /** Resolves to `false` when the aside was cut before it was said in full. */
  readonly spoken: Promise<boolean>;
  /** Ends the aside, even in the middle of a word. Does nothing when it has been said. */
  readonly cut: () => void;
}

export interface SpeechEnd {
  /** The part of the answer's own text that was heard; `undefined` when all was heard, or nothing had to be spoken. */
  readonly heard: string | undefined;
}
