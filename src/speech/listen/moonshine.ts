import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadOnnx } from "../onnx.ts";
import type { OrtLike, OrtSession, OrtTensor } from "../ort-like.ts";
import { repeatedTokens } from "./repetition.ts";

// `logSeverityLevel: 3` logs errors only.
const OPTIONS = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
const LAYERS = 6;
const HEADS = 8;
const HEAD_WIDTH = 36;
const START = 1;
const END = 2;
export const MOONSHINE_RATE = 16_000;
/**
 * How many tokens to read per second of audio, at most. No speaker exceeds this rate, so the limit only stops a decoder
 * that repeats a long phrase.
 */
const TOKENS_PER_SECOND = 6.5;

interface Tokenizer {
  readonly decode: (tokens: readonly number[]) => string;
}

/** The recognition model Moonshine tiny for English, as int8 (MIT license). */
export class Moonshine {
  readonly #ort: OrtLike;
  readonly #encoder: OrtSession;
  readonly #decoder: OrtSession;
  readonly #tokenizer: Tokenizer;

  private constructor(ort: OrtLike, [encoder, decoder]: readonly [OrtSession, OrtSession], tokenizer: Tokenizer) {
    this.#ort = ort;
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#tokenizer = tokenizer;
  }

  /** @param folder contains the parts that `fetchSpeechFiles` downloaded */
  static async load(folder: string): Promise<Moonshine> {
    const ort = await loadOnnx(join(folder, "runtime"));
    const model = async (name: string) =>
      ort.InferenceSession.create(await readFile(join(folder, "moonshine", name)), OPTIONS);
    const address = pathToFileURL(join(folder, "tokenizer/llama-tokenizer.js")).href;
    const { default: tokenizer } = (await import(address)) as { readonly default: Tokenizer };
    const models = [await model("encoder_model.onnx"), await model("decoder_model_merged.onnx")] as const;
    const moonshine = new Moonshine(ort, models, tokenizer);
    // Warm up, because the first run is slower.
    await Array.fromAsync(moonshine.transcribe(new Float32Array(MOONSHINE_RATE)));
    return moonshine;
  }

  /**
   * Yields the words in a piece of audio, or "" for noise and silence. Before that, yields undefined after each
   * token. Blocks the calling thread in between.
   *
   * @param samples from -1 to 1, at 16,000 per second, at most 15 s; in longer audio, the model repeats itself or drops
   *   words
   */
  async *transcribe(samples: Float32Array<ArrayBuffer>): AsyncGenerator<string | undefined, void> {
    const { Tensor } = this.#ort;
    const sound = new Tensor("float32", samples, [1, samples.length]);
    const { last_hidden_state: heard } = await this.#encoder.run({ input_values: sound });
    if (!heard) throw new Error(`Moonshine's encoder has no output "last_hidden_state"`);
    const limit = Math.max(2, Math.trunc((samples.length / MOONSHINE_RATE) * TOKENS_PER_SECOND));
    const past = this.#emptyPast();
    const tokens = [START];
    for (let step = 0; step < limit; step++) {
      yield undefined;
      const output = await this.#decoder.run({
        input_ids: new Tensor("int64", BigInt64Array.of(BigInt(tokens.at(-1) ?? START)), [1, 1]),
        encoder_hidden_states: heard,
        use_cache_branch: new Tensor("bool", [step > 0], [1]),
        ...past,
      });
      const token = likeliest(output["logits"]);
      if (token === END) break;
      tokens.push(token);
      const repeated = repeatedTokens(tokens);
      if (repeated > 0) {
        tokens.length -= repeated;
        break;
      }
      for (const name of Object.keys(past)) {
        const present = output[name.replace("past_key_values", "present")];
        // The encoder's keys and values do not change after the first step.
        if (present && (step === 0 || name.includes("decoder"))) past[name] = present;
      }
    }
    yield this.#tokenizer.decode(tokens).trim();
  }

  #emptyPast(): Record<string, OrtTensor> {
    const { Tensor } = this.#ort;
    const names = Array.from({ length: LAYERS }, (_, layer) =>
      ["decoder.key", "decoder.value", "encoder.key", "encoder.value"].map(
        (part) => `past_key_values.${layer}.${part}`,
      ),
    ).flat();
    const empty = () => new Tensor("float32", new Float32Array(0), [0, HEADS, 1, HEAD_WIDTH]);
    return Object.fromEntries(names.map((name) => [name, empty()]));
  }
}

function likeliest(logits: OrtTensor | undefined): number {
  const data = logits?.data;
  if (!(data instanceof Float32Array)) throw new Error(`Moonshine's decoder has no 32-bit float output "logits"`);
  let best = 0;
  for (let id = 1; id < data.length; id++) if ((data[id] ?? 0) > (data[best] ?? 0)) best = id;
  return best;
}
