import { HOP, SAMPLE_RATE } from "./frames.ts";

/** The pitch, in Hz, up to which the sound is unvoiced. */
const LOWEST_PITCH = 40;
const HIGHEST_HARMONIC = 11_000;
/** Where the divisor in `pulse` is this small or smaller, the quotient is replaced by its limit. */
const NEARLY_ZERO = 2e-3;
const { fround } = Math;

/**
 * The sound of the vocal cords: the harmonics of the pitch, all equally loud. Their sum has a closed form:
 * cos t + cos 2t + … + cos Ht = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2.
 * Calculates with 32 bits, like the original, because near its poles the quotient depends on the rounding.
 */
export class Pulses {
  /** The samples made so far, followed by zeros. */
  readonly sound: Float32Array;
  readonly #pitch: Float32Array;
  #made = 0;
  #cycles = 0;

  constructor(pitch: Float32Array) {
    this.sound = new Float32Array(pitch.length * HOP);
    this.#pitch = pitch;
  }

  /** Makes the samples up to an index. */
  makeUntil(end: number): void {
    const pitch = this.#pitch;
    const last = pitch.length - 1;
    for (; this.#made < Math.min(end, this.sound.length); this.#made++) {
      const at = this.#made;
      const frame = Math.floor(at / HOP);
      const within = at % HOP;
      // The pitch is interpolated linearly between the middles of two frames.
      const left = within < HOP / 2 ? frame - 1 : frame;
      const share = fround(((within + 0.5) / HOP + 0.5) % 1);
      const a = pitch[Math.max(0, left)] ?? 0;
      const b = pitch[Math.min(last, left + 1)] ?? 0;
      const hertz = fround(fround(a * fround(1 - share)) + fround(b * share));
      const voiced = Math.max(hertz, LOWEST_PITCH);
      this.#cycles += voiced;
      if (hertz > LOWEST_PITCH) this.sound[at] = pulse(voiced, this.#cycles);
    }
  }
}

function pulse(pitch: number, cycles: number): number {
  const angle = fround(((cycles * (1 / SAMPLE_RATE)) % 1) * 2 * Math.PI);
  const harmonics = Math.floor(fround(HIGHEST_HARMONIC / pitch)) + 0.5;
  const below = 2 * fround(Math.sin(fround(angle * 0.5)));
  const isPeak = Math.abs(below) <= NEARLY_ZERO;
  return (isPeak ? harmonics : fround(Math.sin(fround(harmonics * angle))) / below) - 0.5;
}
