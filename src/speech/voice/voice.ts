import type { Phonemes } from "./g2p/phonemizer.ts";
import { addOutput } from "./graph-output.ts";
import { floats, Model } from "./model.ts";
import type { OrtLike } from "../ort-like.ts";
import { createPronunciation } from "./pronunciation.ts";
import { HOP, SAMPLE_RATE } from "./sound/frames.ts";
import { createNoise, type Noise } from "./sound/noise.ts";
import { Synthesizer } from "./sound/synthesize.ts";
import { readVoiceData } from "./voice-data.ts";
import { type SpokenPhoneme, type SpokenWord, wordTimes } from "./word-times.ts";

export interface Speech {
  /** One channel, from -1 to 1. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  readonly words: readonly SpokenWord[];
}

/** The name of the network's internal value that contains the number of frames per phoneme, already rounded. */
const DURATIONS = "/Clip_output_0";
const SPEED = 1;

/** Speaks American English. Calls may overlap. */
export class Voice {
  readonly #network: Model;
  readonly #pronounce: (text: string) => AsyncGenerator<Phonemes>;
  readonly #phonemeIds: ReadonlyMap<string, number>;
  readonly #synthesizer: Synthesizer;

  private constructor(network: Model, parts: Parts) {
    this.#network = network;
    this.#pronounce = parts.pronounce;
    this.#phonemeIds = parts.phonemeIds;
    this.#synthesizer = new Synthesizer(parts.noise);
  }

  /** Loads the voice's files from a folder. Tests pass their own noise for a reproducible sound. */
  static async load(folder: string, ort: OrtLike, noise: Noise = createNoise()): Promise<Voice> {
    const data = await readVoiceData(folder);
    const network = await Model.load(ort, addOutput(data.voice, DURATIONS));
    const pronounce = createPronunciation(data, await Model.load(ort, data.unknownWords));
    return new Voice(network, { pronounce, phonemeIds: new Map(Object.entries(data.phonemeIds)), noise });
  }

  /** Returns the phonemes of a text, one item per piece that is spoken at once. */
  async phonemes(text: string): Promise<string[]> {
    return (await Array.fromAsync(this.#pronounce(text))).map((piece) => piece.text);
  }

  /** Speaks a text and returns its sound as a whole. Best called with one sentence. */
  async speak(text: string): Promise<Speech> {
    const pieces: Float32Array[] = [];
    const spoken: SpokenPhoneme[] = [];
    let frames = 0;
    for await (const phonemes of this.#pronounce(text)) {
      const piece = await this.#speakPiece(phonemes, frames);
      if (!piece) continue;
      pieces.push(piece.samples);
      spoken.push(...piece.spoken);
      frames += piece.samples.length / HOP;
    }
    const samples = new Float32Array(frames * HOP);
    let at = 0;
    for (const piece of pieces) {
      samples.set(piece, at);
      at += piece.length;
    }
    return { samples, sampleRate: SAMPLE_RATE, words: wordTimes(text, spoken) };
  }

  async #speakPiece({ text, origins }: Phonemes, firstFrame: number) {
    const known = Array.from({ length: text.length }, (_, at) => ({
      phoneme: text.charAt(at),
      origin: origins[at] ?? 0,
      id: this.#phonemeIds.get(text.charAt(at)),
    })).filter((each) => each.id !== undefined);
    if (known.length === 0) return undefined;
    const ids = [0, ...known.map(({ id = 0 }) => id), 0];
    const outputs = await this.#network.run({ ids, speed: SPEED });
    const [lh, theta, ln] = [floats(outputs, "lh"), floats(outputs, "theta"), floats(outputs, "ln")];
    const [lr, phi, f0] = [floats(outputs, "lr"), floats(outputs, "phi"), floats(outputs, "f0")];
    const samples = this.#synthesizer.synthesize({ lh, theta, ln, lr, phi, f0 });
    const durations = floats(outputs, DURATIONS);
    let end = firstFrame + (durations[0] ?? 0);
    const spoken = known.map(({ phoneme, origin }, at): SpokenPhoneme => {
      const start = end;
      end += durations[at + 1] ?? 0;
      return { phoneme, origin, start, end };
    });
    return { samples, spoken };
  }
}

interface Parts {
  readonly pronounce: (text: string) => AsyncGenerator<Phonemes>;
  readonly phonemeIds: ReadonlyMap<string, number>;
  readonly noise: Noise;
}
