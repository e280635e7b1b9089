import type { AudioFrame } from "@livekit/rtc-node";
import { BufferedStream } from "../../lib/buffered-stream.ts";
import { piecesOf, type SpeakOptions, type Synthesizer, type VoiceChoice } from "../providers/synthesizer.ts";

interface Prepared {
  readonly sentence: string;
  readonly language: string | undefined;
  readonly voice: VoiceChoice | undefined;
  readonly sound: BufferedStream<AudioFrame>;
}

/** A voice that can synthesize a sentence before it is certain that the sentence will be spoken. */
export class PreparedSynthesizer implements Synthesizer {
  readonly #voice: Synthesizer;
  #prepared: Prepared | undefined;

  constructor(voice: Synthesizer) {
    this.#voice = voice;
  }

  /** Prepares one sentence, replacing any other. Returns a function that discards the sentence. */
  prepare(sentence: string, language: string | undefined, voice?: VoiceChoice): () => void {
    this.#prepared?.sound.abort();
    const sound = new BufferedStream((signal) => this.#voice.speak(piecesOf(sentence), { language, voice, signal }));
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
    // A voice may treat empty input as an error.
    if (rest !== "") yield* this.#voice.speak(piecesOf(rest, pieces), options);
  }

  close(): Promise<void> {
    this.#prepared?.sound.abort();
    return this.#voice.close();
  }
}

/** Reads until the text is long enough or ends. Returns the text without leading white space. */
async function readUntil(pieces: AsyncIterator<string>, isEnough: (read: string) => boolean): Promise<string> {
  let read = "";
  while (!isEnough(read)) {
    const next = await pieces.next();
    if (next.done) break;
    read = (read + next.value).trimStart();
  }
  return read;
}
