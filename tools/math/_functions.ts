import { cosine, divide, round, sine } from "./_arithmetic.ts";

interface MathFunction {
  readonly least: number;
  readonly most: number;
  readonly run: (...values: number[]) => number;
}

const one = (run: (value: number) => number): MathFunction => ({ least: 1, most: 1, run: (value = 0) => run(value) });

/** A map, not an object, so that "constructor" and "__proto__" are unknown names like any other. */
export const FUNCTIONS: ReadonlyMap<string, MathFunction> = new Map([
  ["sqrt", one(Math.sqrt)],
  ["cbrt", one(Math.cbrt)],
  ["abs", one(Math.abs)],
  ["floor", one(Math.floor)],
  ["ceil", one(Math.ceil)],
  ["trunc", one(Math.trunc)],
  ["round", { least: 1, most: 2, run: (value = 0, digits = 0) => round(value, digits) }],
  ["exp", one(Math.exp)],
  ["ln", one(Math.log)],
  ["log", one(Math.log10)],
  ["log10", one(Math.log10)],
  ["log2", one(Math.log2)],
  ["sin", one(sine)],
  ["cos", one(cosine)],
  ["tan", one((angle) => divide(sine(angle), cosine(angle)))],
  ["asin", one(Math.asin)],
  ["acos", one(Math.acos)],
  ["atan", one(Math.atan)],
  ["min", { least: 1, most: 100, run: Math.min }],
  ["max", { least: 1, most: 100, run: Math.max }],
]);

export const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
  ["tau", 2 * Math.PI],
]);
