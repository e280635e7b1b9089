// Sine and cosine from a table, because a sentence needs half a million of them. The error is below 1e-7.

const STEPS = 8192;
const SCALE = STEPS / (2 * Math.PI);
/** One and a quarter turns, so that the table also contains the cosines, plus one step for interpolation. */
const SINES = Float64Array.from({ length: STEPS * 1.25 + 2 }, (_, step) => Math.sin(step / SCALE));

function lookUp(place: number): number {
  const step = Math.floor(place);
  const sine = SINES[step] ?? 0;
  return sine + ((SINES[step + 1] ?? 0) - sine) * (place - step);
}

const placeOf = (angle: number): number => {
  const place = angle * SCALE;
  return place - Math.floor(place / STEPS) * STEPS;
};

export const fastSin = (angle: number): number => lookUp(placeOf(angle));
export const fastCos = (angle: number): number => lookUp(placeOf(angle) + STEPS / 4);
