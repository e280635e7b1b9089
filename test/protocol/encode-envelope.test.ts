import { decode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { AppError } from "../../src/errors/app-error.ts";
import { type OutgoingEnvelope, encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { toHex } from "./golden.ts";

const result = (value: unknown): OutgoingEnvelope => ({
  stanzaId: -1,
  conversationId: "c",
  message: { type: "tool_use_result", body: { id: "r", success: true, result: { value } as never } },
});

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}

test("meta is an empty map when there is none", () => {
  expect(decode(encodeEnvelope(result(1)))).toMatchObject({ meta: {} });
});

test("absent fields are left out and fields that the type lacks are not sent", () => {
  const body = { id: "m", content: "x", previousId: undefined, secret: 1 } as unknown as {
    id: string;
    content: string;
  };

  const bytes = encodeEnvelope({ stanzaId: -1, conversationId: "c", message: { type: "assistant_message", body } });

  expect(decode(bytes)).toMatchObject({ body: { conversationId: "c", id: "m", content: "x" } });
  expect(Object.keys((decode(bytes) as { body: object }).body)).toEqual(["conversationId", "id", "content"]);
});

test("a tool result is sent with requestId equal to id", () => {
  expect(decode(encodeEnvelope(result(1)))).toMatchObject({ body: { id: "r", requestId: "r" } });
});

test.each([0, 1, 0.5, -2])("confidence %d is a float32", (confidence) => {
  const body = { id: "m", text: "t", final: true, confidence };

  const hex = toHex(encodeEnvelope({ stanzaId: -1, conversationId: "c", message: { type: "transcription", body } }));

  const float32 = Buffer.alloc(4);
  float32.writeFloatBE(confidence);
  expect(hex.endsWith(`${toHex(Buffer.from("confidence"))}ca${float32.toString("hex")}`)).toBe(true);
});

test("a float32 may appear with any other field, and no other number becomes one", () => {
  const body = { id: "m", text: "t", final: true, confidence: 0.1, participant: "ann" };
  const meta = { confidence: 0.1 };

  const bytes = encodeEnvelope({ stanzaId: -1, conversationId: "c", meta, message: { type: "transcription", body } });

  expect(decode(bytes)).toMatchObject({ meta, body: { ...body, confidence: Math.fround(0.1) } });
});

test("no integer takes 64 bits: larger ones are float64", () => {
  const wide = [2 ** 32, -(2 ** 31) - 1, 2 ** 53 - 1, 12_345_678_901n];
  const bytes = encodeEnvelope({ ...result(wide), stanzaId: -(2 ** 40), meta: { timestamp: 1_795_260_000_123 } });

  const raw = decode(bytes, { useBigInt64: true });

  expect(raw).toMatchObject({ stanzaId: -(2 ** 40), meta: { timestamp: 1_795_260_000_123 } });
  expect(raw).toMatchObject({ body: { result: { value: [2 ** 32, -(2 ** 31) - 1, 2 ** 53 - 1, 12_345_678_901] } } });
});

test("32-bit integers stay integers", () => {
  expect(toHex(encodeEnvelope(result([2 ** 32 - 1, -(2 ** 31)])))).toContain("92ceffffffffd280000000");
});

test("dates are timestamps and bytes are bytes", () => {
  const value = [new Date(1_000), new Uint8Array([1, 2])];

  expect(decode(encodeEnvelope(result(value)))).toMatchObject({ body: { result: { value } } });
});

test("a lone surrogate is replaced, whatever the length of its string", () => {
  const texts = ["a\ud800", `${"b".repeat(300)}\udc00`];

  expect(decode(encodeEnvelope(result(texts)))).toMatchObject({
    body: { result: { value: ["a\uFFFD", `${"b".repeat(300)}\uFFFD`] } },
  });
  expect(texts[0]).toBe("a\ud800");
});

const cycle: unknown[] = [];
cycle.push(cycle);

test.each([
  ["a function", () => 1, "internal: A function cannot be encoded"],
  ["a symbol", Symbol("s"), "internal: A symbol cannot be encoded"],
  ["a Map", new Map(), "internal: An instance of a class cannot be encoded"],
  ["what hides its class", Object.create({ constructor: null }), "internal: An instance of a class cannot be encoded"],
  ["an invalid Date", new Date(NaN), "internal: An invalid Date cannot be encoded"],
  ["a bigint beyond 2^53", 2n ** 60n, "internal: An integer beyond 2^53 cannot be encoded"],
  ["a cycle", cycle, "too_large: The packet is nested over 32 deep"],
  ["too much depth", nested(29), "too_large: The packet is nested over 32 deep"],
  ["too many values", Array.from({ length: 50_001 }, () => 1), "too_large: The packet has over 50000 values"],
  [
    "too many different keys",
    Array.from({ length: 1_001 }, (_, index) => ({ [`k${index}`]: 1 })),
    "too_large: The packet has over 1000 different keys",
  ],
  ["a long string", "x".repeat(1_048_577), "too_large: A string is over 1048576 bytes"],
  ["a string long in UTF-8 only", "é".repeat(524_289), "too_large: A string is over 1048576 bytes"],
  ["a long key", { ["é".repeat(129)]: 1 }, "too_large: A key is over 256 bytes"],
  [
    "over 4 MiB of text",
    Array.from({ length: 5 }, () => "x".repeat(1_000_000)),
    "too_large: The envelope is over 4194304 bytes",
  ],
  ["over 4 MiB of bytes", new Uint8Array(4_194_304), "too_large: The envelope is over 4194304 bytes"],
  [
    "over 4 MiB in UTF-8 only",
    Array.from({ length: 5 }, () => "é".repeat(500_000)),
    "too_large: The envelope is over 4194304 bytes",
  ],
])("%s is refused", (_, value, expected) => {
  let refusal = "accepted";
  try {
    encodeEnvelope(result(value));
  } catch (error) {
    if (error instanceof AppError) refusal = `${error.code}: ${error.message}`;
  }
  expect(refusal).toBe(expected);
});

test("the deepest value that can be encoded can be decoded", () => {
  expect(decodeEnvelope(encodeEnvelope(result(nested(28))))).toMatchObject({ conversationId: "c" });
});

test("a refusal does not affect the next message", () => {
  const before = toHex(encodeEnvelope(result("x")));
  expect(() => encodeEnvelope(result(() => 1))).toThrow(AppError);

  expect(toHex(encodeEnvelope(result("x")))).toBe(before);
});
