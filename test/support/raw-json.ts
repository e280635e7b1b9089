import canonicalize from "canonicalize";
import fc from "fast-check";

/** Names with a special meaning in JavaScript. */
const ODD_KEYS = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "toJSON", "then"];

const key = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 3, arbitrary: fc.constantFrom(...ODD_KEYS) },
  { weight: 1, arbitrary: fc.constantFrom("", "k".repeat(256), "k".repeat(257), "é".repeat(128), "é".repeat(129)) },
);
const scalar = fc.oneof(
  { weight: 8, arbitrary: fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)) },
  { weight: 1, arbitrary: fc.constantFrom("a\0b", "\ud800", "😀", "x".repeat(5_000)) },
);
const number = fc.constantFrom("1e999", "-0", "1e21", "9007199254740992", "9007199254740993", "-12345678901234567890");
const { object, value } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar.map((each) => JSON.stringify(each)),
    number,
    tie("object"),
    tie("list"),
  ),
  object: fc
    .array(fc.tuple(key, tie("value")), { maxLength: 5 })
    .map((entries) => `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${each}`).join()}}`),
  list: fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join()}]`),
}));
const nested = fc
  .tuple(fc.constantFrom(2, 26, 27, 28, 29, 40, 3_500), value)
  .map(([depth, inner]) => `{"a":${'{"m":'.repeat(depth - 1)}${inner}${"}".repeat(depth - 1)}}`);
const wide = fc.constantFrom(1_000, 44_990, 45_010).map((count) => `{"list":[${"7,".repeat(count)}7]}`);

/** The text of a JSON object as a model or a tool may write it: with any keys, and sometimes very deep or long. */
export const rawJson = fc.oneof(
  { weight: 8, arbitrary: object },
  { weight: 2, arbitrary: nested },
  { weight: 1, arbitrary: wide },
);

/** Returns a canonical text, which is equal for two values if they are the same JSON, even with odd keys. */
export const sameText = (json: unknown): string => canonicalize(json) ?? "";
