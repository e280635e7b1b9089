import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanJson, cleanText, readExactJson, readJson } from "../../src/lib/clean-json.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
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

test("any value becomes JSON that PostgreSQL can store, and stays the same when cleaned again", () => {
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
    const read = readJson(value, "it");
    if ("fault" in read) return;
    expect(JSON.stringify(read.value)).toBe(json);
    const body = { id: "r", success: true, result: { value: read.value } };
    const encoded = encodeEnvelope({ stanzaId: 1, conversationId: "c", message: { type: "tool_use_result", body } });
    expect(JSON.stringify(decodeEnvelope(encoded))).toContain(`"result":{"value":${json}}`);
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
  [new Set([{ toJSON: () => new Map([[1, new Date(0)]]) }]), [{ "1": "1970-01-01T00:00:00.000Z" }]],
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
    get throws(): unknown {
      throw new Error("no");
    },
    after: 1,
    rude: {
      toJSON: () => {
        throw new Error("no");
      },
    },
    revoked: (() => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    })(),
  };

  expect(cleanJson(hostile)).toEqual({
    throws: "[unreadable]",
    after: 1,
    rude: "[unreadable]",
    revoked: "[unreadable]",
  });
});

test("odd and overlong keys stay as they are, as properties of the object's own", () => {
  const json = `{"__proto__":{"a":1},"constructor":2,"prototype":3,"${"é".repeat(200)}":4}`;
  const cleaned = cleanJson(JSON.parse(json));

  expect(JSON.stringify(cleaned)).toBe(json);
  expect(Object.getPrototypeOf(cleaned)).toBe(Object.prototype);
  expect(cleaned).not.toHaveProperty("a");
});

test("excessive depth and breadth end in a marker", () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 10_000; depth++) deep = [deep];
  let doubling: unknown = 1;
  for (let depth = 0; depth < 27; depth++) doubling = [doubling, doubling];

  expect(JSON.stringify(cleanJson(deep))).toBe(`${"[".repeat(64)}"[too deep]"${"]".repeat(64)}`);
  expect(JSON.stringify(cleanJson(doubling)).length).toBeLessThan(1_000_000);
  expect(JSON.stringify(cleanJson(Array.from({ length: 1e6 })))).toContain('"[too many values]"]');
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : { m: nested(depth - 1) });

test.each([
  ["28 levels", nested(28), undefined],
  ["29 levels", { a: [0, nested(27)] }, `input.a[1]${".m".repeat(26)}: deeper than 28 levels`],
  ["45,000 values", Array.from({ length: 44_999 }, () => 1), undefined],
  ["45,001 values", { b: Array.from({ length: 45_001 }, () => 1) }, "input.b[44998]: over 45000 values"],
  ["a key of 256 bytes", { ["é".repeat(128)]: 1 }, undefined],
  ["a key of 258 bytes", { a: { ["é".repeat(129)]: 1 } }, "input.a: a key is longer than 256 bytes"],
  ["a long place", { ["k".repeat(256)]: nested(28) }, `input.${"k".repeat(194)}…: deeper than 28 levels`],
])("a value with %s is read completely, or its error contains the place", (_, value, fault) => {
  expect(readJson(value, "input")).toEqual(fault === undefined ? { value } : { fault, isTooLarge: true });
});

test.each([
  ["NUL", { a: ["b\0"] }, "input.a[0]: U+0000 and lone surrogates cannot be stored"],
  ["a half pair", { a: { b: "\ud800" } }, "input.a.b: U+0000 and lone surrogates cannot be stored"],
  ["a key with NUL", { a: { "b\0": 1 } }, "input.a: U+0000 and lone surrogates cannot be stored"],
  ["an infinite number", { a: [1, Infinity] }, "input.a[1]: too large for a number, send it as a string"],
  ["no object", [1], "input: expected an object"],
])("%s is an error where a value must stay exact", (_, value, fault) => {
  expect(readExactJson(value, "input")).toEqual({ fault });
});

const loop: unknown[] = [];
loop.push({ loop });

test.each([
  ["NaN", { a: [1, NaN] }, "result.a[1]: NaN cannot be represented in JSON"],
  ["an infinity", { a: -Infinity }, "result.a: too large for a number, send it as a string"],
  ["a long bigint", [2n ** 53n], "result[0]: too large for a number, send it as a string"],
  ["a cycle", { loop }, "result.loop[0].loop: the value contains itself"],
  ["a date that is none", { at: new Date(NaN) }, "result.at: invalid date"],
  ["a function", { a: { act: () => 1 } }, "result.a.act: a function cannot be represented in JSON"],
  ["a symbol", [Symbol("s")], "result[0]: a symbol cannot be represented in JSON"],
  ["a promise", { row: Promise.resolve(1) }, "result.row: a Promise has no fields"],
  ["an expression", [/a/], "result[0]: a RegExp has no fields"],
  ["a Map with an object for a key", new Map([[{}, 1]]), "result: a key is not a string: object"],
  [
    "a Map with a key twice",
    {
      m: new Map<unknown, number>([
        ["1", 1],
        [1, 2],
      ]),
    },
    "result.m.1: the key appears twice",
  ],
  [
    "a getter that throws",
    {
      get a() {
        throw new Error("no");
      },
    },
    "result.a: reading the value failed",
  ],
  [
    "a toJSON that throws",
    {
      a: {
        toJSON: () => {
          throw new Error("no");
        },
      },
    },
    "result.a: reading the value failed",
  ],
])("a value with %s is an error that contains the place", (_, value, fault) => {
  expect(readJson(value, "result")).toEqual({ fault });
});

class Row {
  readonly id = 7;
  readonly at = new Date(0);
  readonly gone = undefined;
}

test("a value that JSON can represent is read completely, whatever its classes", () => {
  const value = { row: new Row(), n: 2n, none: Object.create(null), nothing: {}, map: new Map(), set: new Set([null]) };
  const read = { row: { id: 7, at: "1970-01-01T00:00:00.000Z" }, n: 2, none: {}, nothing: {}, map: {}, set: [null] };

  expect(readJson(value, "result")).toEqual({ value: read });
});
