/** The calculator's arithmetic. It computes in doubles, and rounds away the last digits, which are unreliable. */

const DIGITS = 15;
/** A sum of fractions that is smaller than this share of its operands is rounding noise, as in 0.1 + 0.2 - 0.3. */
const NOISE = 2 ** -50;

export function add(left: number, right: number): number {
  const sum = left + right;
  const isExact = Number.isInteger(left) && Number.isInteger(right);
  return !isExact && Math.abs(sum) < NOISE * Math.max(Math.abs(left), Math.abs(right)) ? 0 : sum;
}

export function divide(left: number, right: number): number {
  if (right === 0) throw new Error("Division by zero");
  return left / right;
}

/** Returns the remainder, which has the sign of `left`. */
export function remainder(left: number, right: number): number {
  const quotient = divide(left, right);
  if (Number.isInteger(left) && Number.isInteger(right)) return left % right;
  return add(left, -right * Math.trunc(Number(quotient.toPrecision(DIGITS))));
}

export function sine(angle: number): number {
  return withoutNoise(Math.sin(angle), angle);
}

export function cosine(angle: number): number {
  return withoutNoise(Math.cos(angle), angle);
}

/** Rounds half away from zero, based on the decimal number that `toAnswer` returns. */
export function round(value: number, digits = 0): number {
  if (!Number.isInteger(digits) || Math.abs(digits) > DIGITS) {
    throw new Error(`round takes a whole number of digits from -${DIGITS} to ${DIGITS}`);
  }
  const [mantissa = "0", exponent = "0"] = Math.abs(toAnswer(value)).toString().split("e");
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  return Math.sign(value) * Number(`${scaled}e${-digits}`);
}

/** Returns the number for the model: safe integers unchanged, other numbers with 15 significant digits, never -0. */
export function toAnswer(value: number): number {
  return (Number.isSafeInteger(value) ? value : Number(value.toPrecision(DIGITS))) + 0;
}

/**
 * Returns 0 instead of rounding noise: a double cannot represent pi, so sin(pi) is 1.2e-16. Tiny values of angles near
 * 0 are correct.
 */
function withoutNoise(value: number, angle: number): number {
  return Math.abs(angle) > 1 && Math.abs(value) < 1e-15 ? 0 : value;
}
