import { stt } from "@livekit/agents";

interface ToldRecogniserOptions {
  /** BCP 47: what it says that the words are in. */
  readonly language: string;
  /** Whether some of the words are still to be heard. */
  readonly isTalking: () => boolean;
}

/**
 * Stands for a recogniser, which would need a model or a network: it knows the words. That somebody speaks, and when an
 * utterance is over, is found out by the real sound.
 */
export class ToldRecogniser extends stt.STT {
  readonly label = "parley.testing";
  readonly #options: ToldRecogniserOptions;
  #words = "";

  constructor(options: ToldRecogniserOptions) {
    super({ streaming: false, interimResults: false });
    this.#options = options;
  }

  /** The words that are understood next. */
  expect(words: string): void {
    this.#words = words;
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    // The silence between two sentences ends what is recognised at a time: the last part brings all the words.
    const text = this.#options.isTalking() ? "" : this.#words;
    if (text !== "") this.#words = "";
    const language = this.#options.language as stt.SpeechData["language"];
    const heard = { text, language, startTime: 0, endTime: 0, confidence: 1 };
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [heard] };
  }

  override stream(): never {
    throw new TypeError("It recognises whole utterances: its capabilities say so");
  }
}
