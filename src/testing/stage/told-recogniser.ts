import { stt } from "@livekit/agents";

interface ToldRecogniserOptions {
  /** The language that it reports, BCP 47. */
  readonly language: string;
  /** Whether the participant still speaks. */
  readonly isTalking: () => boolean;
}

/**
 * Stands for a recogniser, which would need a model or a network: it is told the words. When somebody speaks, and when
 * an utterance is over, is still found out from the real sound.
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
    // A pause between sentences ends a piece of recognition: earlier pieces are empty, the last one has all the words.
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
