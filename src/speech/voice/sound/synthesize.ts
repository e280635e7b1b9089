import { Fft } from "./fft.ts";
import { BINS, FRAME, HOP, WINDOW } from "./frames.ts";
import type { Noise } from "./noise.ts";
import { pulses } from "./pulses.ts";
import { fastCos, fastSin } from "./trigonometry.ts";

/** The network's output. Each field except `f0` has a row of frames for each frequency. */
export interface Spectrum {
  /** Magnitude (a logarithm) and phase shift of the voiced part. */
  readonly lh: Float32Array;
  readonly theta: Float32Array;
  /** Magnitude of the noise. */
  readonly ln: Float32Array;
  /** Magnitude and phase of the residual (neither voiced nor noise). */
  readonly lr: Float32Array;
  readonly phi: Float32Array;
  /** The pitch, in Hz. */
  readonly f0: Float32Array;
}

const LOUDEST = 7;
const loudness = (logarithm: number): number => Math.exp(Math.min(logarithm, LOUDEST));
// Two functions, because V8 is slow if one function reads both kinds of arrays.
const get = (values: Float64Array, index: number): number => values[index] ?? 0;
const get32 = (values: Float32Array, index: number): number => values[index] ?? 0;
/** The window for the pulses. Scaled so that a cosine of amplitude 1 has a peak of 1 in the spectrum. */
const SOURCE_WINDOW = WINDOW.map((value) => value / (FRAME / 4));

/** Half of a frame's spectrum. The other half mirrors it, because the sound is real-valued. */
class HalfSpectrum {
  readonly re = new Float64Array(BINS);
  readonly im = new Float64Array(BINS);
}

/** Converts the network's output to sound: voiced pulses, noise, and the residual. */
export class Synthesizer {
  readonly #noise: Noise;
  readonly #noiseOfFrame = new Float32Array(2 * BINS);
  readonly #fft = new Fft(FRAME);
  /** Two frames share a transform: one as the real parts, one as the imaginary parts. */
  readonly #pair = [new HalfSpectrum(), new HalfSpectrum()] as const;

  constructor(noise: Noise) {
    this.#noise = noise;
  }

  synthesize(spectrum: Spectrum): Float32Array<ArrayBuffer> {
    const frames = spectrum.f0.length;
    const source = pulses(spectrum.f0);
    const sum = new Float64Array(frames * HOP + FRAME);
    const weights = new Float64Array(sum.length);
    for (let frame = 0; frame < frames; frame += 2) {
      this.#analyze(source, frame);
      for (const [at, half] of this.#pair.entries()) this.#shape(half, spectrum, frame + at);
      this.#resynthesize();
      this.#addFrame(sum, this.#fft.im, frame);
      addWeights(weights, frame);
      if (frame + 1 === frames) break;
      this.#addFrame(sum, this.#fft.re, frame + 1);
      addWeights(weights, frame + 1);
    }
    const sound = new Float32Array(frames * HOP);
    for (let at = 0, from = FRAME / 2; at < sound.length; at++, from++)
      sound[at] = get(sum, from) / Math.max(get(weights, from), 1e-11);
    return sound;
  }

  /** Sets the pair to the spectra of the pulses in a frame and the next one. */
  #analyze(source: Float32Array, frame: number): void {
    const { re, im } = this.#fft;
    for (let at = 0, from = frame * HOP - FRAME / 2; at < FRAME; at++, from++) {
      re[at] = mirrored(source, from) * get(SOURCE_WINDOW, at);
      im[at] = mirrored(source, from + HOP) * get(SOURCE_WINDOW, at);
    }
    this.#fft.transform();
    const { re: zr, im: zi } = this.#fft;
    const first = this.#pair[0];
    const second = this.#pair[1];
    for (let bin = 0; bin < BINS; bin++) {
      const back = (FRAME - bin) % FRAME;
      first.re[bin] = (get(zr, bin) + get(zr, back)) / 2;
      first.im[bin] = (get(zi, bin) - get(zi, back)) / 2;
      second.re[bin] = (get(zi, bin) + get(zi, back)) / 2;
      second.im[bin] = (get(zr, back) - get(zr, bin)) / 2;
    }
  }

  /** Converts the spectrum of the pulses to the spectrum of the voice. */
  #shape({ re, im }: HalfSpectrum, { lh, theta, ln, lr, phi, f0 }: Spectrum, frame: number): void {
    const noise = this.#noiseOfFrame;
    this.#noise(noise);
    for (let bin = 0, at = frame; bin < BINS; bin++, at += f0.length) {
      const turn = Math.PI * Math.tanh(get32(theta, at));
      const voice = loudness(get32(lh, at));
      const hiss = loudness(get32(ln, at));
      const rest = loudness(get32(lr, at));
      const cos = voice * fastCos(turn);
      const sin = voice * fastSin(turn);
      const pulseRe = get(re, bin);
      const pulseIm = get(im, bin);
      const angle = get32(phi, at);
      re[bin] = pulseRe * cos - pulseIm * sin + hiss * get32(noise, 2 * bin) + rest * fastCos(angle);
      im[bin] = pulseRe * sin + pulseIm * cos + hiss * get32(noise, 2 * bin + 1) + rest * fastSin(angle);
    }
    im[0] = 0;
    im[BINS - 1] = 0;
  }

  /** Transforms the pair back. Swapping re and im before and after turns the transform into its inverse. */
  #resynthesize(): void {
    const { re, im } = this.#fft;
    const [first, second] = this.#pair;
    for (let bin = 0; bin < BINS; bin++) {
      const back = (FRAME - bin) % FRAME;
      const ar = get(first.re, bin);
      const ai = get(first.im, bin);
      const br = get(second.re, bin);
      const bi = get(second.im, bin);
      im[bin] = ar - bi;
      re[bin] = ai + br;
      im[back] = ar + bi;
      re[back] = br - ai;
    }
    this.#fft.transform();
  }

  #addFrame(sum: Float64Array, values: Float64Array, frame: number): void {
    for (let at = 0, to = frame * HOP; at < FRAME; at++, to++)
      sum[to] = get(sum, to) + (get(values, at) * get(WINDOW, at)) / FRAME;
  }
}

function addWeights(weights: Float64Array, frame: number): void {
  for (let at = 0, to = frame * HOP; at < FRAME; at++, to++) weights[to] = get(weights, to) + get(WINDOW, at) ** 2;
}

/** Returns a sample of the sound. Beyond either end, the sound continues as its mirror image. */
function mirrored(sound: Float32Array, index: number): number {
  const last = sound.length - 1;
  let at = Math.abs(index);
  while (at > last) at = Math.abs(2 * last - at);
  return get32(sound, at);
}
