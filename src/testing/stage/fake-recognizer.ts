import { stt } from "@livekit/agents";

interface FakeRecognizerOptions {
  /** The language to report (BCP 47). */
  readonly language: string;
  /** Whether the participant is still speaking. */
  readonly isTalking: () => boolean;
}

/**
 * A fake recognizer that returns the words set by the test, so that tests need neither a model nor a network. The
 * beginning and the end of an utterance are still detected in the real audio.
 */
export class FakeRecognizer extends stt.STT {
  readonly label = "parley.testing";
  readonly #options: FakeRecognizerOptions;
  #words = "";

  constructor(options: FakeRecognizerOptions) {
    super({ streaming: false, interimResults: false });
    this.#options = options;
  }

  /** Sets the words to recognize next. */
  expect(words: string): void {
    this.#words = words;
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    // A pause between sentences ends a segment. Segments before the end of the speech are empty, and the last segment
    // contains all the words.
    const text = this.#options.isTalking() ? "" : this.#words;
    if (text !== "") this.#words = "";
    const language = this.#options.language as stt.SpeechData["language"];
    const heard = { text, language, startTime: 0, endTime: 0, confidence: 1 };
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [heard] };
  }

  override stream(): never {
    throw new TypeError("The fake recognizer cannot stream: it recognizes whole utterances only");
  }
}
