import { Fft } from "./fft.ts";
import { BINS, FRAME, HOP, WINDOW } from "./frames.ts";
import type { Noise } from "./noise.ts";
import { Pulses } from "./pulses.ts";
import { fastCos, fastSin } from "./trigonometry.ts";

/** The network's output for some frames. Each field has a row of frames for each frequency. */
export interface Spectrum {
  /** Magnitude (a logarithm) and phase shift of the voiced part. */
  readonly lh: Float32Array;
  readonly theta: Float32Array;
  /** Magnitude of the noise. */
  readonly ln: Float32Array;
  /** Magnitude and phase of the residual (neither voiced nor noise). */
  readonly lr: Float32Array;
  readonly phi: Float32Array;
}

const LOUDEST = 7;
const loudness = (logarithm: number): number => Math.exp(Math.min(logarithm, LOUDEST));
// Two functions, because V8 is slow if one function reads both kinds of arrays.
const get = (values: Float64Array, index: number): number => values[index] ?? 0;
const get32 = (values: Float32Array, index: number): number => values[index] ?? 0;
/** The window for the pulses. Scaled so that a cosine of amplitude 1 has a peak of 1 in the spectrum. */
const SOURCE_WINDOW = WINDOW.map((value) => value / (FRAME / 4));

const WINDOW_SQUARED = WINDOW.map((value) => value ** 2);

/** Half of a frame's spectrum. The other half mirrors it, because the sound is real-valued. */
class HalfSpectrum {
  readonly re = new Float64Array(BINS);
  readonly im = new Float64Array(BINS);
}

/** The sound of one sentence, as far as it has been made. */
interface Sentence {
  readonly pulses: Pulses;
  readonly frames: number;
  /** The sum of the overlapping frames made so far. */
  readonly sum: Float64Array;
  made: number;
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

  /**
   * Returns a function that converts the next frames of a sentence, and returns the samples that later frames do not
   * change. The number of frames must be even, except at the end of the sentence.
   *
   * @param pitch the pitch of all frames, in Hz
   */
  begin(pitch: Float32Array): (spectrum: Spectrum) => Float32Array<ArrayBuffer> {
    const frames = pitch.length;
    const sentence = { pulses: new Pulses(pitch), frames, sum: new Float64Array(frames * HOP + FRAME), made: 0 };
    return (spectrum) => this.#convert(spectrum, sentence);
  }

  #convert(spectrum: Spectrum, sentence: Sentence): Float32Array<ArrayBuffer> {
    const { pulses, frames, sum } = sentence;
    const count = spectrum.lh.length / BINS;
    const first = sentence.made;
    sentence.made += count;
    pulses.makeUntil(sentence.made * HOP + FRAME / 2);
    for (let at = 0; at < count; at += 2) {
      this.#analyze(pulses.sound, first + at);
      this.#shape(this.#pair[0], spectrum, { at, count });
      if (at + 1 < count) this.#shape(this.#pair[1], spectrum, { at: at + 1, count });
      this.#resynthesize();
      this.#addFrame(sum, this.#fft.im, first + at);
      if (at + 1 < count) this.#addFrame(sum, this.#fft.re, first + at + 1);
    }
    const end = sentence.made === frames ? frames * HOP : soundUntil(sentence.made);
    return finished(sentence, soundUntil(first), end);
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
  #shape({ re, im }: HalfSpectrum, { lh, theta, ln, lr, phi }: Spectrum, frame: Place): void {
    const noise = this.#noiseOfFrame;
    this.#noise(noise);
    for (let bin = 0, { at } = frame; bin < BINS; bin++, at += frame.count) {
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

/** Which frame of a spectrum, and how many frames it has. */
interface Place {
  readonly at: number;
  readonly count: number;
}

/** Returns how many samples no longer change once some frames are made. The first frame begins before the sound. */
const soundUntil = (frames: number): number => Math.max(0, frames * HOP - FRAME / 2);

/** Returns a range of samples of a sentence. */
function finished({ sum, frames }: Sentence, start: number, end: number): Float32Array<ArrayBuffer> {
  const sound = new Float32Array(end - start);
  for (let at = 0, from = start + FRAME / 2; at < sound.length; at++, from++) {
    let weight = 0;
    const newest = Math.min(frames - 1, Math.floor(from / HOP));
    for (let frame = Math.max(0, Math.floor((from - FRAME) / HOP) + 1); frame <= newest; frame++)
      weight += get(WINDOW_SQUARED, from - frame * HOP);
    sound[at] = get(sum, from) / Math.max(weight, 1e-11);
  }
  return sound;
}

/** Returns a sample of the sound. Beyond either end, the sound continues as its mirror image. */
function mirrored(sound: Float32Array, index: number): number {
  const last = sound.length - 1;
  let at = Math.abs(index);
  while (at > last) at = Math.abs(2 * last - at);
  return get32(sound, at);
}
