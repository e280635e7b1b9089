import type { Phonemes } from "./g2p/phonemizer.ts";
import { FEATURES, FrameDecoder } from "./network/frame-decoder.ts";
import { floats, Model } from "./network/model.ts";
import { OnnxGraph } from "./network/onnx-graph.ts";
import type { OrtLike } from "../ort-like.ts";
import { createPronunciation } from "./pronunciation.ts";
import { FRAMES_PER_STEP, SAMPLE_RATE } from "./sound/frames.ts";
import { createNoise, type Noise } from "./sound/noise.ts";
import { Synthesizer } from "./sound/synthesize.ts";
import { readVoiceData } from "./voice-data.ts";
import { type SpokenPhoneme, type SpokenWord, wordTimes } from "./word-times.ts";

/** A piece of spoken text. */
export interface Speech {
  /** One channel, from -1 to 1. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  /** The words of which the first is heard in this piece, or later. Times are from the start of this piece. */
  readonly words: readonly SpokenWord[];
}

/** The name of the network's internal value that contains the number of steps per phoneme, already rounded. */
const DURATIONS = "/Clip_output_0";
const PITCH = "f0";
const SPEED = 1;
/**
 * How much of the silence before the first phoneme is spoken. The network begins each sentence with 300 ms or more, but
 * soft consonants sound up to 120 ms before their phoneme begins.
 */
const LEAD_IN_STEPS = 6;

/** Speaks American English. Calls may overlap. */
export class Voice {
  readonly #parts: Parts;
  readonly #synthesizer: Synthesizer;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.#synthesizer = new Synthesizer(parts.noise);
  }

  /** Loads the voice's files from a folder. Tests pass their own noise for a reproducible sound. */
  static async load(folder: string, ort: OrtLike, noise: Noise = createNoise()): Promise<Voice> {
    const data = await readVoiceData(folder);
    const graph = OnnxGraph.parse(data.voice);
    const planner = await Model.load(ort, graph.part(["ids", "speed"], [FEATURES, PITCH, DURATIONS]));
    const decoder = await FrameDecoder.load(ort, graph);
    const pronounce = createPronunciation(data, await Model.load(ort, data.unknownWords));
    return new Voice({ planner, decoder, pronounce, phonemeIds: new Map(Object.entries(data.phonemeIds)), noise });
  }

  /** Returns the phonemes of a text, one item per part that the network speaks at once. */
  async phonemes(text: string): Promise<string[]> {
    return (await Array.fromAsync(this.#parts.pronounce(text))).map((part) => part.text);
  }

  /** Speaks a text, piece by piece. Best called with one sentence, because its first piece is the shortest. */
  async *speak(text: string): AsyncGenerator<Speech> {
    const parts = await Array.fromAsync(this.#parts.pronounce(text));
    let from = 0;
    for (const [at, phonemes] of parts.entries()) {
      const known = this.#known(phonemes);
      if (known.length === 0) continue;
      const to = parts[at + 1]?.origins[0] ?? text.length;
      yield* this.#speakPart(known, { written: text.slice(from, to), from });
      from = to;
    }
  }

  async *#speakPart(phonemes: readonly KnownPhoneme[], { written, from }: Written): AsyncGenerator<Speech> {
    const { planner, decoder } = this.#parts;
    const plan = await planner.run({ ids: [0, ...phonemes.map(({ id }) => id), 0], speed: SPEED });
    const durations = floats(plan, DURATIONS);
    const skipped = Math.max(0, (durations[0] ?? 0) - LEAD_IN_STEPS);
    let end = (durations[0] ?? 0) - skipped;
    const spoken = phonemes.map(({ phoneme, origin }, at): SpokenPhoneme => {
      const start = end;
      end += durations[at + 1] ?? 0;
      return { phoneme, origin: origin - from, start, end };
    });
    const firstFrame = skipped * FRAMES_PER_STEP;
    const convert = this.#synthesizer.begin(floats(plan, PITCH).subarray(firstFrame));
    let words: readonly SpokenWord[] = wordTimes(written, spoken);
    for await (const spectrum of decoder.decode(floats(plan, FEATURES), firstFrame)) {
      yield { samples: convert(spectrum), sampleRate: SAMPLE_RATE, words };
      words = [];
    }
  }

  /** Returns the phonemes that the network knows. */
  #known({ text, origins }: Phonemes): KnownPhoneme[] {
    return Array.from({ length: text.length }, (_, at) => ({
      phoneme: text.charAt(at),
      origin: origins[at] ?? 0,
      id: this.#parts.phonemeIds.get(text.charAt(at)),
    })).filter((each): each is KnownPhoneme => each.id !== undefined);
  }
}

interface Parts {
  /** The first half of the network: when each phoneme sounds, and at which pitch. */
  readonly planner: Model;
  readonly decoder: FrameDecoder;
  readonly pronounce: (text: string) => AsyncGenerator<Phonemes>;
  readonly phonemeIds: ReadonlyMap<string, number>;
  readonly noise: Noise;
}

interface KnownPhoneme {
  readonly phoneme: string;
  readonly origin: number;
  readonly id: number;
}

/** The text of a part, and where it begins in the whole text. */
interface Written {
  readonly written: string;
  readonly from: number;
}
