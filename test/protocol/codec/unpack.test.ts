import { decode, encode, ExtensionCodec } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { AppError } from "../../../src/errors/app-error.ts";
import { decodeEnvelope, unpackPacket } from "../../../src/protocol/codec/decode-envelope.ts";
import { packMap } from "../../../src/protocol/codec/pack.ts";
import { toBytes } from "../golden.ts";

/** Returns a packet with the map `{a: …}` around the bytes of one value. */
const inMap = (hex: string) => toBytes(`81 a161 ${hex}`);

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

/** Returns a packet with this many different keys. The outer map and the first of the inner maps have the same key. */
function mapsOfKeys(count: number): Uint8Array {
  return encode({ a: Array.from({ length: count }, (_, index) => ({ [index === 0 ? "a" : `k${index}`]: 1 })) });
}

const REFUSED: readonly [string, Uint8Array, string][] = [
  ["an empty packet", toBytes(""), "malformed: The packet is not a map"],
  ["a scalar root", toBytes("01"), "malformed: The packet is not a map"],
  ["a list root", toBytes("90"), "malformed: The packet is not a map"],
  ["a nil root", toBytes("c0"), "malformed: The packet is not a map"],
  ["a list of 33 million items in 5 bytes", inMap("dd02000000"), "malformed: The packet ends inside a value"],
  ["ten nested such lists", inMap("dd02000000".repeat(10)), "malformed: The packet ends inside a value"],
  ["a map of 4 billion entries", inMap("dfffffffff"), "malformed: The packet ends inside a value"],
  ["5,000 nested lists of 65,535", inMap("dcffff".repeat(5_000)), "malformed: The packet ends inside a value"],
  [
    "nested lists that fill the packet",
    inMap(`${"dc2000".repeat(31)}${"c0".repeat(8_192 * 4)}`),
    "too_large: The packet has over 50000 values",
  ],
  ["15,000 nested lists of one", inMap(`${"91".repeat(15_000)}c0`), "too_large: The packet is nested over 32 deep"],
  ["7,500 nested maps of one", inMap(`${"81a161".repeat(7_500)}c0`), "too_large: The packet is nested over 32 deep"],
  ["32 lists inside the map", inMap(`${"91".repeat(31)}90`), "too_large: The packet is nested over 32 deep"],
  ["50,001 values", inMap(`dd0000c34f${"01".repeat(49_999)}`), "too_large: The packet has over 50000 values"],
  ["1,001 different keys", mapsOfKeys(1_001), "too_large: The packet has over 1000 different keys"],
  ["an int key", toBytes("81 01 c0"), "malformed: A key is not a string"],
  ["a nil key", toBytes("81 c0 c0"), "malformed: A key is not a string"],
  ["a map key", toBytes("81 80 c0"), "malformed: A key is not a string"],
  ["a bytes key", toBytes("81 c40161 c0"), "malformed: A key is not a string"],
  ["a float key", toBytes("81 cb3ff0000000000000 c0"), "malformed: A key is not a string"],
  ["a key of 257 bytes", toBytes(`81 da0101${"61".repeat(257)} c0`), "too_large: A key is over 256 bytes"],
  ["a key that is not UTF-8", toBytes("81 a1ff c0"), "malformed: A key is not UTF-8"],
  ["a string over 1 MiB", inMap(`db00100001${"61".repeat(1_048_577)}`), "too_large: A string is over 1048576 bytes"],
  ["a cut str32", inMap("db7fffffff61"), "malformed: The packet ends inside a value"],
  ["a cut bin32", inMap("c67fffffff61"), "malformed: The packet ends inside a value"],
  ["a cut map32", inMap("df7fffffffa161"), "malformed: The packet ends inside a value"],
  ["a cut length", inMap("db7f"), "malformed: The packet ends inside a value"],
  ["a cut float", inMap("cb3ff0"), "malformed: The packet ends inside a value"],
  ["ext type 0x63", inMap("d46300"), "malformed: An extension type is neither 0 nor a timestamp"],
  ["a record of msgpackr", inMap("d47240"), "malformed: An extension type is neither 0 nor a timestamp"],
  ["an error of msgpackr", inMap("c7016590"), "malformed: An extension type is neither 0 nor a timestamp"],
  ["a timestamp of 5 bytes", inMap("c705ff0000000000"), "malformed: A timestamp is not 4, 8 or 12 bytes"],
  ["the byte 0xc1", inMap("c1"), "malformed: The byte 0xc1 is not MessagePack"],
  ["a byte after the map", toBytes("80 00"), "malformed: The packet has bytes after its map"],
  ["a second map", toBytes("80 80"), "malformed: The packet has bytes after its map"],
  ["an envelope over 4 MiB", new Uint8Array(4_194_305), "too_large: The envelope is over 4194304 bytes"],
];

test.each(REFUSED)("%s is refused", (_, bytes, expected) => {
  expect(codeOf(() => unpackPacket(bytes))).toBe(expected);
  expect(codeOf(() => decodeEnvelope(bytes))).toBe(expected);
});

const ACCEPTED: readonly [string, Uint8Array][] = [
  ["an empty map", toBytes("80")],
  ["a map16 header", toBytes("de0001 a161 c0")],
  ["a map32 header", toBytes("df00000001 a161 c0")],
  ["msgpack5's undefined", inMap("d40000")],
  ["timestamps of 4, 8 and 12 bytes", inMap(`93 d6ff00000001 d7ff${"00".repeat(8)} c70cff${"00".repeat(12)}`)],
  ["a timestamp that is no date", inMap(`c70cff00000000${"7f".repeat(8)}`)],
  ["48 KB of one-byte integers", inMap(`dcbb80${"01".repeat(48_000)}`)],
  ["20,000 small maps", inMap(`dc4e20${"81a16101".repeat(20_000)}`)],
  ["exactly 50,000 values", inMap(`dd0000c34e${"01".repeat(49_998)}`)],
  ["exactly 1,000 different keys", mapsOfKeys(1_000)],
  ["exactly 32 levels", inMap(`${"91".repeat(30)}90`)],
  ["a key of 256 bytes", toBytes(`81 da0100${"61".repeat(256)} c0`)],
  ["a string of 1 MiB", inMap(`db00100000${"61".repeat(1_048_576)}`)],
  [
    "keys that objects inherit",
    new Uint8Array(encode(Object.fromEntries(["toString", "then", "toJSON"].map((key) => [key, 1])))),
  ],
  ["a duplicate key", toBytes("82 a16101 a16102")],
];

test.each(ACCEPTED)("%s is accepted", (_, bytes) => {
  expect(codeOf(() => unpackPacket(bytes))).toBe("accepted");
});

test("rows whose keys have the same hash are read correctly, and each key counts once", () => {
  const row = { Aa: 1, BB: 2, AaBB: 3, BBAa: 4, AaAa: 5, BBBB: 6 };
  const rows = Array.from({ length: 1_000 }, () => row);

  expect(unpackPacket(encode({ rows }))).toEqual({ rows });
});

test("a map with 15 keys of 4 KB is refused because of its first key", () => {
  const map = Object.fromEntries(Array.from({ length: 15 }, (_, index) => ["k".repeat(4_096) + index, 1]));

  expect(codeOf(() => unpackPacket(encode(map)))).toBe("too_large: A key is over 256 bytes");
});

test("a view into a larger buffer is read within its own bounds", () => {
  const buffer = toBytes("ff ff 81 a161 01 ff");

  expect(codeOf(() => unpackPacket(buffer.subarray(2, 6)))).toBe("accepted");
  expect(codeOf(() => unpackPacket(buffer.subarray(2, 5)))).toBe("malformed: The packet ends inside a value");
});

test("reading after a refusal starts from scratch", () => {
  expect(codeOf(() => unpackPacket(inMap(`${"91".repeat(31)}90`)))).toContain("too_large");
  expect(codeOf(() => unpackPacket(inMap("9201 81a16102")))).toBe("accepted");
});

const VALUES = [
  "c0 c2 c3 00 7f e0 ff cc80 cdfffe cefffffffe d080 d18000 d280000000",
  "cf0000000000000001 cfffffffffffffffff d3ffffffffffffffff d38000000000000000",
  "ca3fc00000 ca80000000 cb3ff8000000000000 cb7ff8000000000000 cbfff0000000000000",
  "a0 a3c3a961 d903e282ac da0004f09f9880 db0000000161 a3efbbbf",
  "c400 c40201ff c5000101 c600000001ff 90 9101 dc000101 dd0000000101",
  "80 81a16201 de0001a16201 df00000001a16201 82a16201a16202",
  "d40000 d5000102 c70000 d800ffffffffffffffffffffffffffffffff",
  "d6ff5f5e1000 d7ffee6b27fd5f5e1000 c70cff3b9ac9ffffffffffff000000 c704ff5f5e1000",
];

test.each(VALUES.flatMap((values) => values.split(" ")))("%s is read like @msgpack/msgpack reads it", (value) => {
  const extensionCodec = new ExtensionCodec();
  extensionCodec.register({ type: 0, encode: () => null, decode: () => undefined });
  const packet = inMap(value);

  expect(unpackPacket(packet)).toStrictEqual(decode(packet, { useBigInt64: true, extensionCodec }));
});

test.each([
  ["short", 1],
  ["long", 250],
])("in a %s text every bad byte becomes U+FFFD, and nothing is lost", (_, repeated) => {
  const packet = inMap(`da${(3 + repeated * 2).toString(16).padStart(4, "0")} efbbbf ${"61ff".repeat(repeated)}`);

  expect(unpackPacket(packet)).toEqual({ a: `\uFEFF${"a\uFFFD".repeat(repeated)}` });
});

test("bytes are never read as text, however their length is encoded and whatever precedes them", () => {
  const lengths = [0, 1, 5, 31, 32, 161, 217, 255, 256, 55_813, 65_535, 65_536];
  const hexOf = (tag: string, length: number, digits: number) =>
    `${tag}${length.toString(16).padStart(digits, "0")}${"d9".repeat(length)}`;
  const packets = lengths.flatMap((length) => [
    ...(length < 256 ? [hexOf("c4", length, 2)] : []),
    ...(length < 65_536 ? [hexOf("c5", length, 4)] : []),
    hexOf("c6", length, 8),
  ]);
  const texts = packets.map((hex) => hex.replace(/^c4/, "d9").replace(/^c5/, "da").replace(/^c6/, "db"));

  expect(packets.filter((hex) => !(unpackPacket(inMap(hex))["a"] instanceof Uint8Array))).toEqual([]);
  expect(texts.filter((hex) => typeof unpackPacket(inMap(hex))["a"] !== "string")).toEqual([]);
});

test("a key with a special meaning in JavaScript is a property of the map itself", () => {
  const json = '{"__proto__":{"polluted":1},"constructor":2,"a":[{"prototype":3,"__proto__":4}]}';
  const map = unpackPacket(packMap(JSON.parse(json) as Record<string, unknown>));

  expect(JSON.stringify(map)).toBe(json);
  expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
  expect({}).not.toHaveProperty("polluted");
});
