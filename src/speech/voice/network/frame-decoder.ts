import type { OrtLike, OrtTensor } from "../../ort-like.ts";
import type { Spectrum } from "../sound/synthesize.ts";
import { type Channels, floats, Model, tensor } from "./model.ts";
import type { OnnxGraph } from "./onnx-graph.ts";

/** The name of the network's internal value that describes each frame: its phoneme, pitch and loudness. */
export const FEATURES = "/Concat_43_output_0";
const FEATURE_CHANNELS = 130;
const SPECTRUM = ["lh", "theta", "ln", "lr", "phi"] as const;
const LAYERS = 8;
const LAYER_CHANNELS = 256;
const CONVOLUTIONS = [
  "/dec_in/Conv_output_0",
  ...Array.from({ length: LAYERS }, (_, at) => `/dec.${at}/dw/Conv_output_0`),
];
const CHANNELS = [FEATURE_CHANNELS, ...Array.from({ length: LAYERS }, () => LAYER_CHANNELS)];
/** How many frames each convolution reads before and after a frame. */
const PAD = 3;
/** How many later frames influence a frame. */
const LOOKAHEAD = PAD * CONVOLUTIONS.length;
/**
 * How many frames are decoded first, and then at once. The first are few, so that the sound begins early. Even numbers,
 * because two frames share a Fourier transform.
 */
const FIRST_FRAMES = 10;
const NEXT_FRAMES = 32;

/**
 * The second half of the voice's network: converts the features of frames to their spectra. Because a frame depends on
 * few others, it works piece by piece, and its first frames are known long before its last.
 */
export class FrameDecoder {
  readonly #model: Model;

  private constructor(model: Model) {
    this.#model = model;
  }

  static async load(ort: OrtLike, graph: OnnxGraph): Promise<FrameDecoder> {
    const indexes = [...CONVOLUTIONS.keys()];
    const inputs = [FEATURES, ...indexes.flatMap((index) => [`past.${index}`, `after.${index}`])];
    const outputs = [...SPECTRUM, ...indexes.map((index) => `next.${index}`)];
    return new FrameDecoder(await Model.load(ort, graph.streaming(CONVOLUTIONS, PAD).part(inputs, outputs)));
  }

  /** Yields the spectra of all frames from `firstFrame` on, several frames at once. */
  async *decode(features: Float32Array, firstFrame: number): AsyncGenerator<Spectrum> {
    const frames = features.length / FEATURE_CHANNELS;
    let past: Record<string, OrtTensor | Channels> = zeros("past", PAD);
    for (let [read, done, count] = [firstFrame, firstFrame, FIRST_FRAMES]; done < frames; count = NEXT_FRAMES) {
      const isLast = done + count + LOOKAHEAD >= frames;
      const until = isLast ? frames : done + count + LOOKAHEAD;
      const outputs = await this.#model.run({
        [FEATURES]: framesOf(features, read, until),
        ...past,
        ...zeros("after", isLast ? PAD : 0),
      });
      past = Object.fromEntries(CONVOLUTIONS.map((_, index) => [`past.${index}`, tensor(outputs, `next.${index}`)]));
      read = until;
      done = isLast ? frames : done + count;
      const [lh, theta, ln] = [floats(outputs, "lh"), floats(outputs, "theta"), floats(outputs, "ln")];
      yield { lh, theta, ln, lr: floats(outputs, "lr"), phi: floats(outputs, "phi") };
    }
  }
}

function zeros(name: string, frames: number): Record<string, Channels> {
  return Object.fromEntries(
    CHANNELS.map((channels, index) => [`${name}.${index}`, { data: new Float32Array(channels * frames), channels }]),
  );
}

function framesOf(features: Float32Array, from: number, to: number): Channels {
  const frames = features.length / FEATURE_CHANNELS;
  const data = new Float32Array(FEATURE_CHANNELS * (to - from));
  for (let channel = 0; channel < FEATURE_CHANNELS; channel++)
    data.set(features.subarray(channel * frames + from, channel * frames + to), channel * (to - from));
  return { data, channels: FEATURE_CHANNELS };
}
