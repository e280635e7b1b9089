import { defineTool } from "parley";
import { z } from "zod";
import { evaluate } from "./_evaluate.ts";

export default defineTool({
  description:
    "Computes an arithmetic expression exactly as written. Use it for any calculation that is not trivial. " +
    "Operators: + - * / ^ (or **), % (remainder before a number, otherwise per cent: 15% is 0.15), parentheses. " +
    "Functions: sqrt, cbrt, abs, floor, ceil, trunc, round(x, digits), exp, ln, log (base 10), log2, sin, cos, tan, " +
    "asin, acos, atan (radians), min, max. Constants: pi, e, tau. Answers have 15 significant digits.",
  input: z.strictObject({ expression: z.string().describe('For example "(2 + 3) * 4.5" or "200 * 15%"') }),
  readOnly: true,
  timeoutMs: 1_000,
  run: ({ expression }) => ({ answer: evaluate(expression) }),
});
