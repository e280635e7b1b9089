import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanJson, cleanText } from "../../src/lib/clean-json.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { propertyRuns, propertySeed } from "../support/property-runs.ts";

const SEED = propertySeed(20_261_121);

const anything = fc.anything({
  maxDepth: 5,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withTypedArray: true,
  withSparseArray: true,
  withBoxedValues: true,
  withUnicodeString: true,
  key: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "constructor", "prototype", "toJSON")),
  values: [
    fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
    fc.double(),
    fc.bigInt(),
    fc.constantFrom(undefined, null, true, Symbol("s"), () => 1, new Date(NaN), -0),
  ],
});

test("anything becomes JSON that PostgreSQL stores, and stays the same when cleaned again", () => {
  const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");
  const property = fc.property(anything, (value) => {
    const cleaned = cleanJson(value);
    const json = JSON.stringify(cleaned, (key, inner: unknown) => {
      expect([key, inner]).toSatisfy((texts: unknown[]) =>
        texts.every((text) => typeof text !== "string" || isStorable(text)),
      );
      return inner;
    });

    expect(JSON.parse(json)).toEqual(cleaned);
    expect(cleanJson(cleaned)).toEqual(cleaned);
    const body = { id: "r", success: true, result: { value: cleaned as never } };
    encodeEnvelope({ stanzaId: 1, conversationId: "c", message: { type: "tool_use_result", body } });
  });

  fc.assert(property, { seed: SEED, numRuns: propertyRuns(3_000) });
});

test("text keeps everything but NUL and lone surrogates", () => {
  expect(cleanText("a\0b\ud800c\udc00d😀\u202e\n")).toBe("a\uFFFDb\uFFFDc\uFFFDd😀\u202e\n");
});

test.each([
  [NaN, "NaN"],
  [-Infinity, "-Infinity"],
  [-0, 0],
  [7n, 7],
  [2n ** 64n, "18446744073709551616"],
  [undefined, null],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [new Date(NaN), "Invalid Date"],
  [new Uint8Array([0, 255]), { base64: "AP8=" }],
  [new Uint8Array([9, 0, 255]).subarray(1), { base64: "AP8=" }],
  [new Uint8Array([0, 255]).buffer, { base64: "AP8=" }],
  [
    new Map<unknown, unknown>([
      ["a", 1],
      [2, undefined],
      [{}, 3],
    ]),
    { a: 1, object: 3 },
  ],
  [new Set([1, undefined]), [1, null]],
  [new URL("https://a.example/b"), "https://a.example/b"],
  [new TypeError("no"), { name: "TypeError", message: "no" }],
  [{ a: undefined, b: () => 1, c: Symbol("s"), d: [undefined] }, { d: [null] }],
])("%o is cleaned", (value, expected) => {
  const cleaned = cleanJson(value);

  expect(cleaned).toEqual(expected);
  expect(Object.is(cleaned, -0)).toBe(false);
});

test("a cycle is marked where it closes, and a value used twice is kept twice", () => {
  const shared = { a: 1 };
  const cyclic: Record<string, unknown> = { shared, again: shared };
  cyclic["self"] = [cyclic];

  expect(cleanJson(cyclic)).toEqual({ shared: { a: 1 }, again: { a: 1 }, self: ["[circular]"] });
});

test("hostile objects do no harm", () => {
  const hostile = {
    toJSON: () => "called",
    get throws(): unknown {
      throw new Error("no");
    },
    after: 1,
    revoked: (() => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    })(),
  };

  expect(cleanJson(hostile)).toEqual({ throws: "[unreadable]", after: 1, revoked: "[unreadable]" });
});

test("forbidden and overlong keys stay visible", () => {
  const cleaned = cleanJson(JSON.parse(`{"__proto__":1,"constructor":2,"${"é".repeat(200)}":3}`));

  expect(Object.getPrototypeOf(cleaned)).toBe(Object.prototype);
  expect(cleaned).toEqual(
    Object.fromEntries([
      ["__proto___", 1],
      ["constructor_", 2],
      [`${"é".repeat(80)}\uFFFD`, 3],
    ]),
  );
});

test("depth and breadth end in a marker", () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 10_000; depth++) deep = [deep];
  let doubling: unknown = 1;
  for (let depth = 0; depth < 27; depth++) doubling = [doubling, doubling];

  expect(JSON.stringify(cleanJson(deep))).toBe(`${"[".repeat(28)}"[too deep]"${"]".repeat(28)}`);
  expect(JSON.stringify(cleanJson(doubling)).length).toBeLessThan(500_000);
  expect(JSON.stringify(cleanJson(Array.from({ length: 1e6 })))).toContain('"[too many values]"]');
});
