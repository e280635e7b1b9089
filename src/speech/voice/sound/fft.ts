/** Replaces `radix` complex numbers (re and im alternate) with their Fourier transform, in place. */
type Butterfly = (values: Float64Array) => void;

interface Stage {
  readonly radix: number;
  readonly butterfly: Butterfly;
  /** The distance between two input numbers of the same transform, in units of `stride`. */
  readonly span: number;
  /** The number of interleaved transforms. */
  readonly stride: number;
  readonly cos: Float64Array;
  readonly sin: Float64Array;
}

const SIN_60 = Math.sqrt(3) / 2;
const [COS_72, SIN_72] = [Math.cos((2 * Math.PI) / 5), Math.sin((2 * Math.PI) / 5)];
const [COS_144, SIN_144] = [Math.cos((4 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)];

const get = (values: Float64Array, index: number): number => values[index] ?? 0;

const BUTTERFLIES: readonly (readonly [radix: number, Butterfly])[] = [
  [
    4,
    (v) => {
      const ar = get(v, 0) + get(v, 4);
      const ai = get(v, 1) + get(v, 5);
      const br = get(v, 0) - get(v, 4);
      const bi = get(v, 1) - get(v, 5);
      const cr = get(v, 2) + get(v, 6);
      const ci = get(v, 3) + get(v, 7);
      const dr = get(v, 2) - get(v, 6);
      const di = get(v, 3) - get(v, 7);
      v[0] = ar + cr;
      v[1] = ai + ci;
      v[2] = br + di;
      v[3] = bi - dr;
      v[4] = ar - cr;
      v[5] = ai - ci;
      v[6] = br - di;
      v[7] = bi + dr;
    },
  ],
  [
    3,
    (v) => {
      const tr = get(v, 2) + get(v, 4);
      const ti = get(v, 3) + get(v, 5);
      const mr = get(v, 0) - tr / 2;
      const mi = get(v, 1) - ti / 2;
      const nr = SIN_60 * (get(v, 2) - get(v, 4));
      const ni = SIN_60 * (get(v, 3) - get(v, 5));
      v[0] = get(v, 0) + tr;
      v[1] = get(v, 1) + ti;
      v[2] = mr + ni;
      v[3] = mi - nr;
      v[4] = mr - ni;
      v[5] = mi + nr;
    },
  ],
  [
    5,
    (v) => {
      const xr = get(v, 0);
      const xi = get(v, 1);
      const ar = get(v, 2) + get(v, 8);
      const ai = get(v, 3) + get(v, 9);
      const br = get(v, 4) + get(v, 6);
      const bi = get(v, 5) + get(v, 7);
      const cr = get(v, 2) - get(v, 8);
      const ci = get(v, 3) - get(v, 9);
      const dr = get(v, 4) - get(v, 6);
      const di = get(v, 5) - get(v, 7);
      const m1r = xr + COS_72 * ar + COS_144 * br;
      const m1i = xi + COS_72 * ai + COS_144 * bi;
      const m2r = xr + COS_144 * ar + COS_72 * br;
      const m2i = xi + COS_144 * ai + COS_72 * bi;
      const n1r = SIN_72 * cr + SIN_144 * dr;
      const n1i = SIN_72 * ci + SIN_144 * di;
      const n2r = SIN_144 * cr - SIN_72 * dr;
      const n2i = SIN_144 * ci - SIN_72 * di;
      v[0] = xr + ar + br;
      v[1] = xi + ai + bi;
      v[2] = m1r + n1i;
      v[3] = m1i - n1r;
      v[4] = m2r + n2i;
      v[5] = m2i - n2r;
      v[6] = m2r - n2i;
      v[7] = m2i + n2r;
      v[8] = m1r - n1i;
      v[9] = m1i + n1r;
    },
  ],
];

function stagesOf(size: number): Stage[] {
  const stages: Stage[] = [];
  let length = size;
  for (const [radix, butterfly] of BUTTERFLIES) {
    for (; length % radix === 0; length /= radix) {
      const angles = Array.from({ length }, (_, at) => (-2 * Math.PI * Math.floor(at / radix) * (at % radix)) / length);
      const cos = Float64Array.from(angles, Math.cos);
      const sin = Float64Array.from(angles, Math.sin);
      stages.push({ radix, butterfly, span: length / radix, stride: size / length, cos, sin });
    }
  }
  if (length !== 1) throw new Error(`cannot transform ${size} values: the size must be a product of 3s, 4s and 5s`);
  return stages;
}

/**
 * The Fourier transform of complex numbers, by Stockham's algorithm. The size may have no factors except 4, 3 and 5.
 */
export class Fft {
  /** The input of `transform`, replaced by its output. */
  re: Float64Array;
  im: Float64Array;
  #spareRe: Float64Array;
  #spareIm: Float64Array;
  readonly #stages: readonly Stage[];
  readonly #values = new Float64Array(10);

  constructor(size: number) {
    this.#stages = stagesOf(size);
    [this.re, this.im] = [new Float64Array(size), new Float64Array(size)];
    [this.#spareRe, this.#spareIm] = [new Float64Array(size), new Float64Array(size)];
  }

  transform(): void {
    for (const stage of this.#stages) {
      this.#run(stage);
      [this.re, this.#spareRe] = [this.#spareRe, this.re];
      [this.im, this.#spareIm] = [this.#spareIm, this.im];
    }
  }

  #run({ radix, butterfly, span, stride, cos, sin }: Stage): void {
    const { re, im } = this;
    const toRe = this.#spareRe;
    const toIm = this.#spareIm;
    const values = this.#values;
    for (let p = 0; p < span; p++) {
      for (let q = 0; q < stride; q++) {
        for (let k = 0, at = q + stride * p; k < radix; k++, at += stride * span) {
          values[2 * k] = get(re, at);
          values[2 * k + 1] = get(im, at);
        }
        butterfly(values);
        for (let k = 0, at = q + stride * radix * p; k < radix; k++, at += stride) {
          const c = get(cos, radix * p + k);
          const s = get(sin, radix * p + k);
          toRe[at] = get(values, 2 * k) * c - get(values, 2 * k + 1) * s;
          toIm[at] = get(values, 2 * k) * s + get(values, 2 * k + 1) * c;
        }
      }
    }
  }
}
