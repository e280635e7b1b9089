import { abortable } from "../../lib/abortable.ts";
import type { VoiceSettings } from "../voice-settings.ts";
import { toSpeakable } from "./speakable.ts";

const WITHIN_MS = 50;

interface SpokenWordsOptions extends Pick<VoiceSettings, "pronounce" | "speakable"> {
  /** Called when the author's `speakable` is late or fails. */
  readonly onProblem: (error: unknown) => void;
}

/** Rewrites a text without markup as the voice says it: by Parley's own rules, and then by the author's `speakable`. */
export class SpokenWords {
  readonly #options: SpokenWordsOptions;

  constructor(options: SpokenWordsOptions) {
    this.#options = options;
  }

  /**
   * Resolves to the words for the voice. If `speakable` is late or fails, these are the words that it was called with.
   * Never rejects.
   *
   * @param language a BCP 47 tag
   */
  async rewrite(text: string, language: string | undefined): Promise<string> {
    const { pronounce, speakable, onProblem } = this.#options;
    const words = toSpeakable(text, { language, pronounce });
    if (!speakable || words.trim() === "") return words;
    const { run, withinMs = WITHIN_MS } = typeof speakable === "function" ? { run: speakable } : speakable;
    const signal = AbortSignal.timeout(withinMs);
    try {
      const running = Promise.resolve().then(() => run(words, { language, signal }));
      const rewritten: unknown = await abortable(running, signal);
      if (typeof rewritten !== "string") throw new TypeError("voice.speakable: expected it to return a string");
      return rewritten.trim();
    } catch (error) {
      onProblem(error);
      return words;
    }
  }
}
