export const SAMPLE_RATE = 24_000;
/** The number of samples from one frame to the next. The network describes the sound in steps of 12.5 ms. */
export const HOP = 300;
/** The network counts durations in steps of this many frames. */
export const FRAMES_PER_STEP = 2;
export const FRAME = 4 * HOP;
/** The number of frequencies in a frame, from 0 Hz to half the sample rate. */
export const BINS = FRAME / 2 + 1;

/** The Hann window. */
export const WINDOW = Float64Array.from({ length: FRAME }, (_, at) =>
  Math.fround(0.5 - 0.5 * Math.cos((2 * Math.PI * at) / FRAME)),
);
