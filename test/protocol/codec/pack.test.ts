import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../../../src/errors/app-error.ts";
import { packMap } from "../../../src/protocol/codec/pack.ts";
import { unpackPacket } from "../../../src/protocol/codec/decode-envelope.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const WRITTEN_ALIKE: readonly [string, unknown][] = [
  ["nil", null],
  ["a list with holes", [undefined, null]],
  ["booleans", [true, false]],
  ["small integers", [0, 127, -1, -32]],
  ["integers of 8 bits", [128, 255, -33, -128]],
  ["integers of 16 bits", [256, 65_535, -129, -32_768]],
  ["integers of 32 bits", [65_536, 2 ** 32 - 1, -32_769, -(2 ** 31)]],
  ["wider numbers", [2 ** 32, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, 1.5, NaN, -Infinity]],
  ["texts around the first length", ["", "x".repeat(31), "x".repeat(32)]],
  ["texts around the second length", ["x".repeat(255), "x".repeat(256)]],
  ["texts around the third length", ["x".repeat(65_535), "x".repeat(65_536)]],
  ["texts that are longer in UTF-8", ["é".repeat(16), "é".repeat(128), "€".repeat(22_000), "😀".repeat(8)]],
  ["bytes", [0, 255, 256, 65_535, 65_536].map((length) => new Uint8Array(length).fill(7))],
  ["lists", [15, 16, 256, 49_000].map((length) => Array.from({ length }, () => 1))],
  ["maps", [15, 16].map((length) => Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, index])))],
  ["a map without a prototype", Object.assign(Object.create(null) as object, { a: 1 })],
];

test.each(WRITTEN_ALIKE)("%s: encoded byte for byte like @msgpack/msgpack", (_, value) => {
  const expected = encode({ value }, { useBigInt64: true, ignoreUndefined: true });

  expect(Buffer.compare(packMap({ value }), expected)).toBe(0);
});

test.each([0, 1_000, 1_795_260_000_123, -1, 2 ** 45])("the date %d is decoded again", (time) => {
  const date = new Date(time);

  expect(unpackPacket(packMap({ date }))).toEqual({ date });
  expect(decode(packMap({ date }))).toEqual({ date });
});

test("entries without a value are left out", () => {
  expect(decode(packMap({ a: undefined, b: { c: undefined, d: 1 } }))).toEqual({ b: { d: 1 } });
});

test("whatever is encoded for a value is decoded to that value", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 300 });
  const key = fc.string({ maxLength: 20 });
  const leaf = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array(),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("value")),
      fc.dictionary(key, tie("value"), { noNullPrototype: true }),
    ),
  }));
  // -0 is decoded as 0, because the integer 0 has no sign.
  const property = fc.property(value, (any) => {
    expect(unpackPacket(packMap({ any }))).toEqual({ any: positiveZero(any) });
  });

  expect(() => fc.assert(property, { seed: propertySeed(), numRuns: propertyRuns(1_000) })).not.toThrow();
});

function positiveZero(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(positiveZero);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, positiveZero(each)]));
}

test("an envelope of exactly 4 MiB is encoded, one byte more is refused", () => {
  const texts = Array.from({ length: 4 }, () => "x".repeat(1_048_576));
  const rest = 4_194_304 - packMap({ texts: [...texts.slice(1), ""] }).length - 4;
  const withLast = (length: number) => packMap({ texts: [...texts.slice(1), "x".repeat(length)] });

  expect(withLast(rest).length).toBe(4_194_304);
  expect(() => withLast(rest + 1)).toThrow(new AppError("too_large", "The envelope is over 4194304 bytes"));
});
