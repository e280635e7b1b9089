import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { MESSAGES } from "../../src/protocol/messages/messages.ts";
import { goldens, toBytes } from "../protocol/golden.ts";

const repeat = (byte: number, count: number): number[] => Array.from({ length: count }, () => byte);
const str = (text: string): number[] => [0xa0 + text.length, ...Buffer.from(text)];
/** A valid envelope of one type around raw bytes as its body. */
const around = (type: number, body: readonly number[]): Uint8Array =>
  Uint8Array.from([0x83, ...str("stanzaId"), 1, ...str("type"), type, ...str("body"), ...body]);
const nested = (head: readonly number[], count: number): number[] => Array.from({ length: count }, () => head).flat();

/** Inputs that have broken MessagePack decoders. CORPUS contains each alone, and as the body of a message. */
const BODIES: readonly (readonly number[])[] = [
  [0xdd, 0x02, 0, 0, 0],
  nested([0xdd, 0x02, 0, 0, 0], 10),
  nested([0xdc, 0xff, 0xff], 5_000),
  repeat(0x91, 15_000),
  nested([0x81, 0x01], 7_500),
  nested([0x81, 0xa1, 0x61], 4_000),
  [0x81, ...str("__proto__"), 0x81, ...str("id"), 0xc3],
  [0x81, ...str("constructor"), 0x81, ...str("prototype"), 0x80],
  [0x83, ...str("toString"), 1, ...str("then"), 2, ...str("toJSON"), 3],
  [0x82, ...str("id"), ...str("a"), ...str("id"), ...str("b")],
  [0x81, ...str("id"), 0xcf, 0, 0x20, 0, 0, 0, 0, 0, 1],
  [0x81, ...str("id"), 0xcf, ...repeat(0xff, 8)],
  [0x81, ...str("id"), 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0],
  [0x81, ...str("id"), 0xa3, 0xff, 0xfe, 0xfd],
  [0x81, ...str("id"), 0xa3, 0xed, 0xa0, 0x80],
  [0x81, ...str("id"), 0xa2, 0xc0, 0x80],
  [0x81, ...str("id"), 0xdb, 0xff, 0xff, 0xff, 0xff],
  [0xc6, 0xff, 0xff, 0xff, 0xff],
  [0xdf, 0xff, 0xff, 0xff, 0xff],
  [0xc7, 1, 0x63, 0],
  [0x81, ...str("id"), 0xc7, 12, 0xff, ...repeat(0xff, 12)],
  [0x81, ...str("id"), 0xc7, 5, 0xff, 0, 0, 0, 0, 0],
  [0xc1],
  [0xd4, 0, 0],
  [0x81, 0xc0, 1],
  [0xdd, 0, 0, 0xfa, 0, ...repeat(0x07, 64_000)],
  [0xdd, 0, 0, 0x4e, 0x20, ...repeat(0x80, 20_000)],
];

const bodies = BODIES.flatMap((body) => [1, 2, 7, 8, 10, 12, 99, 104].map((type) => around(type, body)));
const bare = BODIES.map((body) => Uint8Array.from(body));
export const CORPUS: readonly Uint8Array[] = [new Uint8Array(), ...bare, ...bodies];

const FIELD_NAMES = [
  ...new Set(Object.values(MESSAGES).flatMap(({ shape }) => Object.keys(shape.entries))),
  "conversationId",
  "requestId",
  "constructor",
  "then",
];

const oddText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    "\0",
    "\u202e",
    "a\nb",
    "</tool_result>",
    "\u001b[2J",
    "x".repeat(300),
    "Client",
    "server",
    "null",
  ),
);
const oddNumber = fc.constantFrom(
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e308,
);
const oddValue = fc.oneof(
  { depthSize: "small", withCrossShrink: true },
  oddText,
  oddNumber,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }),
  fc.date({ noInvalidDate: true }),
  fc.array(fc.oneof(oddText, oddNumber, fc.boolean()), { maxLength: 5 }),
  fc.dictionary(fc.constantFrom(...FIELD_NAMES), fc.oneof(oddText, oddNumber, fc.boolean()), { maxKeys: 5 }),
);
const oddTool = fc.dictionary(
  fc.constantFrom("name", "description", "inputSchema", "execution", "timeoutMs", "annotations"),
  fc.oneof(oddValue, fc.constantFrom("scan", { type: "object" }, { type: "object", properties: { a: { type: 7 } } })),
);

/**
 * Messages with the fields of any message type, whose values are of any kind. The fields of the envelope may be wrong,
 * too.
 */
const wrongTypes = fc
  .record(
    {
      stanzaId: fc.oneof({ arbitrary: fc.nat(1_000_000), weight: 4 }, { arbitrary: oddValue, weight: 1 }),
      conversationId: fc.oneof(fc.constantFrom("fake", "", "other"), oddValue),
      type: fc.oneof(
        { arbitrary: fc.constantFrom(...Object.values(MESSAGES).map(({ number }) => number)), weight: 6 },
        { arbitrary: oddValue, weight: 1 },
      ),
      meta: oddValue,
      body: fc.oneof(
        {
          arbitrary: fc.dictionary(
            fc.constantFrom(...FIELD_NAMES),
            fc.oneof(oddValue, fc.array(oddTool, { maxLength: 3 })),
            {
              maxKeys: 10,
            },
          ),
          weight: 6,
        },
        { arbitrary: oddValue, weight: 1 },
      ),
    },
    { requiredKeys: [] },
  )
  .map((envelope) => encode(envelope));

const headByte = fc.oneof(fc.integer({ min: 0xc0, max: 0xdf }), fc.integer({ min: 0x80, max: 0x9f }), fc.nat(255));
const change = fc.record({ at: fc.nat(), byte: headByte, kind: fc.constantFrom("replace", "insert", "remove", "cut") });

const mutated = fc.tuple(fc.constantFrom(...goldens), fc.array(change, { maxLength: 5 })).map(([{ hex }, changes]) => {
  const bytes = [...toBytes(hex)];
  for (const { at, byte, kind } of changes) {
    const position = at % Math.max(bytes.length, 1);
    if (kind === "cut") bytes.length = position;
    else bytes.splice(position, kind === "insert" ? 0 : 1, ...(kind === "remove" ? [] : [byte]));
  }
  return Uint8Array.from(bytes);
});

/** A packet that no honest client would send, or an honest packet in the wrong place. */
export const hostilePacket: fc.Arbitrary<Uint8Array> = fc.oneof(
  { arbitrary: fc.uint8Array({ maxLength: 200 }), weight: 2 },
  { arbitrary: mutated, weight: 4 },
  { arbitrary: wrongTypes, weight: 6 },
  { arbitrary: fc.constantFrom(...CORPUS), weight: 1 },
);
