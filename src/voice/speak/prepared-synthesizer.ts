import type { AudioFrame } from "@livekit/rtc-node";
import { HeldStream } from "../../lib/held-stream.ts";
import { piecesOf, type SpeakOptions, type Synthesizer } from "../providers/synthesizer.ts";

interface Prepared {
  readonly sentence: string;
  readonly language: string | undefined;
  readonly voice: string | undefined;
  readonly sound: HeldStream<AudioFrame>;
}

/** A voice that can begin a sentence before it is certain that it will be said. */
export class PreparedSynthesizer implements Synthesizer {
  readonly #voice: Synthesizer;
  #prepared: Prepared | undefined;

  constructor(voice: Synthesizer) {
    this.#voice = voice;
  }

  get bySentence(): boolean {
    return this.#voice.bySentence ?? false;
  }

  /** One sentence at a time: another one takes its place. Returns what throws it away. */
  prepare(sentence: string, language: string | undefined, voice?: string): () => void {
    this.#prepared?.sound.abort();
    const sound = new HeldStream((signal) => this.#voice.speak(piecesOf(sentence), { language, voice, signal }));
    const prepared = { sentence, language, voice, sound };
    this.#prepared = prepared;
    return () => {
      if (this.#prepared !== prepared) return;
      sound.abort();
      this.#prepared = undefined;
    };
  }

  async *speak(text: AsyncIterable<string>, options: SpeakOptions): AsyncGenerator<AudioFrame> {
    const prepared = this.#prepared;
    if (!prepared || prepared.language !== options.language || prepared.voice !== options.voice) {
      yield* this.#voice.speak(text, options);
      return;
    }
    const { sentence, sound } = prepared;
    const pieces = text[Symbol.asyncIterator]();
    const begin = await readUntil(pieces, (read) => read.startsWith(sentence) || !sentence.startsWith(read));
    if (!begin.startsWith(sentence) || sound.hasFailed) {
      yield* this.#voice.speak(piecesOf(begin, pieces), options);
      return;
    }
    if (this.#prepared === prepared) this.#prepared = undefined;
    yield* sound.read(options.signal);
    const rest = begin.slice(sentence.length).trimStart() || (await readUntil(pieces, (read) => read !== ""));
    // A voice that gets no words may take that for an error.
    if (rest !== "") yield* this.#voice.speak(piecesOf(rest, pieces), options);
  }

  close(): Promise<void> {
    this.#prepared?.sound.abort();
    return this.#voice.close();
  }
}

/** What a text begins with, without the blanks before it, once that is enough or all. */
async function readUntil(pieces: AsyncIterator<string>, isEnough: (read: string) => boolean): Promise<string> {
  let read = "";
  while (!isEnough(read)) {
    const next = await pieces.next();
    if (next.done) break;
    read = (read + next.value).trimStart();
  }
  return read;
}
