import { type Utterance } from "./spoken-part.ts";

/** Makes sound of utterances, one at a time. */
export interface Player {
  readonly play: (utterance: Utterance) => Playback;
}

export interface Playback {
  /** Never rejects. */
  readonly done: Promise<Played>;
  /** Ends it, also in the middle of a word. */
  readonly cut: () => void;
}

export interface Played {
  /** whole · cut by us · interrupted by the participant · unspoken: no sound could be made of it */
  readonly end: "whole" | "cut" | "interrupted" | "unspoken";
  /** What of the text was heard, when it was not whole. */
  readonly heard: string;
}
