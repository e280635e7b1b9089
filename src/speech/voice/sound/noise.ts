/** Fills an array with noise of variance 1. */
export type Noise = (target: Float32Array) => void;

const LENGTH = 1 << 16;

/**
 * Returns a noise source. Generates normally distributed numbers once and reads them from random positions, because
 * generating new ones takes too long.
 */
export function createNoise(): Noise {
  const stock = Float32Array.from({ length: LENGTH }, () => {
    return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  });
  return (target) => {
    const start = Math.floor(Math.random() * (LENGTH - target.length));
    target.set(stock.subarray(start, start + target.length));
  };
}
