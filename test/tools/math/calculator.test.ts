import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import calculator from "../../../tools/math/calculator.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { runTool } from "../run-tool.ts";

const answer = async (expression: string) => await runTool(calculator, { expression });

test.each<[string, number]>([
  ["2 + 2", 4],
  ["2 + 3 * 4", 14],
  ["(2 + 3) * 4.5", 22.5],
  ["10 - 4 - 3", 3],
  ["2 ^ 3 ^ 2", 512],
  ["2 ** 10", 1024],
  ["-2 ^ 2", -4],
  ["2 ^ -1", 0.5],
  ["--3", 3],
  ["+5", 5],
  [".5 + 1.", 1.5],
  ["1.5e3", 1500],
  ["10 % 3", 1],
  ["-7 % 3", -1],
  ["0.3 % 0.1", 0],
  ["15%", 0.15],
  ["200 * 15%", 30],
  ["15% + 1", 1.15],
  ["sqrt(16) + abs(-2)", 6],
  ["round(2.345, 2)", 2.35],
  ["round(1.005, 2)", 1.01],
  ["round(-2.5)", -3],
  ["round(1234, -2)", 1200],
  ["max(1, 2, 3) - min(1, 2)", 2],
  ["log(1000)", 3],
  ["ln(e)", 1],
  ["PI", 3.14159265358979],
  ["6 × 7 ÷ 2 − 1", 20],
])("%s is computed as people expect", async (expression, expected) => {
  expect(await answer(expression)).toEqual({ answer: expected });
});

test.each<[string, number]>([
  ["0.1 + 0.2", 0.3],
  ["0.1 + 0.2 - 0.3", 0],
  ["1.1 * 3", 3.3],
  ["1/3*3", 1],
  ["sin(pi)", 0],
  ["tan(pi/4)", 1],
  ["9007199254740991 - 9007199254740990", 1],
  ["9007199254740991", 9007199254740991],
])("%s shows no rounding noise", async (expression, expected) => {
  expect(await answer(expression)).toEqual({ answer: expected });
});

test.each(["-0", "0 * -1", "round(-0.2)"])("%s is plain zero", async (expression) => {
  expect(await answer(expression)).toStrictEqual({ answer: 0 });
});

test.each<[string, string]>([
  ["9**9**9", "The result is too large"],
  ["9**-9**9**9", "The result is too large"],
  ["1e308 * 10", "The result is too large"],
  ["exp(1e6)", "The result is too large"],
  ["1e309", "The number 1e309 is too large"],
  ["1/0", "Division by zero"],
  ["1 % 0", "Division by zero"],
  ["1 / (1 - 1)", "Division by zero"],
  ["tan(pi/2)", "Division by zero"],
  ["sqrt(-1)", "The result is not a real number"],
  ["(-8) ^ (1/3)", "The result is not a real number"],
  ["ln(0)", "The result is too large"],
  ["", "The expression is empty"],
  ["   ", "The expression is empty"],
  ["%", 'Unexpected "%" at position 1'],
  ["1 +", "The expression ends too early"],
  ["(1", 'A closing ")" is missing'],
  ["1)", 'Unexpected ")" at position 2'],
  ["()", 'Unexpected ")" at position 2'],
  ["2π", 'Unexpected "pi" at position 2'],
  ["2 3", 'Unexpected "3" at position 3'],
  ["1.2.3", 'Unexpected "0.3" at position 4'],
  ["1,000 + 1", "without thousands separators"],
  ["sqrt", "sqrt needs its value in parentheses"],
  ["sqrt()", 'Unexpected ")"'],
  ["sqrt(1, 2)", "sqrt cannot take 2 values"],
  ["round(1, 99)", "round takes a whole number of digits"],
])("%s is refused with a clear message", async (expression, message) => {
  await expect(answer(expression)).rejects.toThrow(message);
});

test.each<[string, string]>([
  ["constructor", 'Unknown name "constructor"'],
  ["__proto__", 'Unknown name "__proto__"'],
  ["toString()", 'Unknown name "tostring"'],
  ["process", 'Unknown name "process"'],
  ["process.exit()", 'Unexpected "." at position 8'],
  ["this.constructor.constructor('return process')()", 'Unexpected "." at position 5'],
  ["globalThis['x']", 'Unexpected "[" at position 11'],
  ["1; 2", 'Unexpected ";" at position 2'],
  ["1 /* two */ + 2", 'Unexpected "*" at position 4'],
  ["1 // two", 'Unexpected "/" at position 4'],
  ["1 # two", 'Unexpected "#"'],
  ["`${1}`", 'Unexpected "`" at position 1'],
  ["'1'", `Unexpected "'" at position 1`],
  ["x = 1", 'Unexpected "=" at position 3'],
  ["() => 1", 'Unexpected "=" at position 4'],
  ["0x10", 'Unexpected "x10" at position 2'],
  ["1_000", 'Unexpected "_000" at position 2'],
  ["10n", 'Unexpected "n" at position 3'],
  ["١٢ + ٣", 'Unexpected "١" at position 1'],
  ["１＋１", 'Unexpected "１" at position 1'],
  ["½", 'Unexpected "½" at position 1'],
  ["1\u0000", "Unexpected character U+0000 at position 2"],
  ["1\u202E2", "Unexpected character U+202E at position 2"],
  ["\u001b[31m1", "Unexpected character U+001B at position 1"],
  ["\ud800", "Unexpected character U+D800 at position 1"],
  ["😀", 'Unexpected "😀" at position 1'],
])("%s is not arithmetic and never runs", async (expression, message) => {
  await expect(answer(expression)).rejects.toThrow(message);
});

test.each<[string, string, string]>([
  ["10,000 brackets", "(".repeat(10_000), "longer than 1000 characters"],
  ["500 brackets", "(".repeat(500), "nested deeper than 100 levels"],
  ["500 minus signs", `${"-".repeat(500)}1`, "nested deeper than 100 levels"],
  ["400 powers", "1^".repeat(400) + "1", "nested deeper than 100 levels"],
  ["a megabyte of digits", "9".repeat(1_000_000), "longer than 1000 characters"],
  ["a number of 200 digits", "9".repeat(200), "more than 100 digits"],
  ["a megabyte of spaces", " ".repeat(1_000_000), "longer than 1000 characters"],
])("%s are refused immediately", async (_name, expression, message) => {
  const start = cpuMs();
  await expect(answer(expression)).rejects.toThrow(message);
  expect(cpuMs() - start).toBeLessThan(100);
});

test("whole numbers are computed as in JavaScript", async () => {
  const number = fc.integer({ min: -1_000_000, max: 1_000_000 });
  await fc.assert(
    fc.asyncProperty(number, number, number, async (a, b, c) => {
      expect(await answer(`${a} + ${b} - (${c}) * 2`)).toEqual({ answer: a + b - c * 2 });
    }),
  );
});

test("any text gives a finite number or an Error with a message", async () => {
  const words = ["1", "9e99", ".", "(", ")", "+", "-", "*", "/", "^", "**", "%", ",", " ", "sqrt", "pi", "π", "x"];
  const likely = fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((pieces) => pieces.join(""));
  const isSound = (outcome: unknown) =>
    outcome instanceof Error ? outcome.message !== "" : Number.isFinite((outcome as { answer: number }).answer);
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), likely), async (expression) => {
      expect(isSound(await answer(expression).catch((error: unknown) => error))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each([{}, { expression: 4 }, { expression: null }, { expression: "1", extra: true }, []])(
  "the input %j is refused by the schema",
  async (input) => {
    await expect(runTool(calculator, input)).rejects.toThrow(z.ZodError);
  },
);
