import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../../src/errors/app-error.ts";
import { type OutgoingEnvelope, encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { MESSAGES } from "../../src/protocol/messages/messages.ts";
import { goldens, toBytes, toEnvelope } from "./golden.ts";
import { propertyRuns, propertySeed } from "../support/property-runs.ts";
import { cpuMs } from "../support/cpu-ms.ts";

const SEED = propertySeed(20_261_121);
const packets = goldens.map(({ hex }) => toBytes(hex));

/** Whether the packet was read. Throws anything that is not an AppError. */
function isAccepted(bytes: Uint8Array): boolean {
  try {
    JSON.stringify(decodeEnvelope(bytes));
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== "malformed" && error.code !== "too_large")) throw error;
    return false;
  }
}

test("random bytes are read or refused", () => {
  const property = fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
    isAccepted(bytes);
    isAccepted(new Uint8Array([0x81, 0xa4, ...Buffer.from("body"), ...bytes]));
  });

  expect(() => fc.assert(property, { seed: SEED, numRuns: propertyRuns(8_000) })).not.toThrow();
});

const headBytes = fc.oneof(fc.integer({ min: 0xc0, max: 0xdf }), fc.integer({ min: 0x80, max: 0x9f }), fc.nat(255));

test("valid messages with changed bytes are read or refused", () => {
  const change = fc.record({ at: fc.nat(), byte: headBytes, kind: fc.constantFrom("replace", "insert", "remove") });
  const property = fc.property(
    fc.constantFrom(...packets),
    fc.array(change, { minLength: 1, maxLength: 6 }),
    (packet, changes) => {
      const bytes = [...packet];
      for (const { at, byte, kind } of changes) {
        const position = at % Math.max(bytes.length, 1);
        bytes.splice(position, kind === "insert" ? 0 : 1, ...(kind === "remove" ? [] : [byte]));
      }
      isAccepted(new Uint8Array(bytes));
    },
  );

  expect(() => fc.assert(property, { seed: SEED, numRuns: propertyRuns(8_000) })).not.toThrow();
});

test("every valid message cut at any byte is refused, and with any bit flipped read or refused", () => {
  let cases = 0;
  for (const packet of packets) {
    for (let length = 0; length < packet.length; length++) {
      expect(isAccepted(packet.subarray(0, length))).toBe(false);
      const flipped = packet.slice();
      flipped[length] = (flipped[length] ?? 0) ^ (1 << (length % 8));
      isAccepted(flipped);
      cases += 2;
    }
  }
  expect(cases).toBeGreaterThan(6_000);
});

test("maps with any content are read or refused", () => {
  const value = fc.anything({
    maxDepth: 4,
    withDate: true,
    withTypedArray: true,
    values: [fc.string(), fc.double(), fc.integer(), fc.constant(null)],
  });
  const names = [
    "id",
    "requestId",
    "content",
    "success",
    "result",
    "tools",
    "features",
    "previousId",
    "sequence",
    "timeoutMs",
    "parameters",
  ];
  const body = fc.dictionary(fc.constantFrom(...names), value);
  const property = fc.property(fc.constantFrom(...goldens), body, value, (golden, fields, meta) => {
    const merged = { ...golden.body, ...fields };
    isAccepted(
      encodeLeniently({ stanzaId: 1, conversationId: "c", type: MESSAGES[golden.type].number, meta, body: merged }),
    );
    isAccepted(encodeLeniently({ stanzaId: 1, type: golden.stanzaId > 0 ? 12 : 7, meta: {}, body: merged }));
  });

  expect(() => fc.assert(property, { seed: SEED, numRuns: propertyRuns(2_000) })).not.toThrow();
});

function encodeLeniently(value: unknown): Uint8Array {
  try {
    return encode(value, { maxDepth: 200 });
  } catch {
    return new Uint8Array();
  }
}

const plain = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));

test("whatever is encoded is decoded to the same value", () => {
  const stanzaId = fc.maxSafeInteger();
  const property = fc.property(fc.constantFrom(...goldens), stanzaId, plain, (golden, number, map) => {
    const result: OutgoingEnvelope = {
      stanzaId: number,
      conversationId: "c",
      meta: JSON.parse(JSON.stringify(clean(map))) as never,
      message: { type: "tool_use_result", body: { id: "r", success: true, result: clean(map) as never } },
    };
    for (const envelope of [result, { ...toEnvelope(golden), stanzaId: number }]) {
      expect(decodeEnvelope(encodeEnvelope(envelope))).toEqual(envelope);
    }
  });

  expect(() => fc.assert(property, { seed: SEED, numRuns: propertyRuns(2_000) })).not.toThrow();
});

/** Removes what the round trip changes on purpose: NUL, and -0. */
function clean(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(String.raw`\u0000`, "N")) as unknown;
}

test("the worst packets of 64 KB cost little memory and time", () => {
  const worst = [
    `81a161${"dd02000000".repeat(13_000)}`,
    `81a161${"dcffff".repeat(21_000)}`,
    `81a161${"91".repeat(65_000)}c0`,
    `81a161dcfff0${"90".repeat(65_520)}`,
    `81a161dc7fff${"a1ff".repeat(32_767)}`,
  ].map(toBytes);
  const before = process.memoryUsage().heapUsed;
  const started = cpuMs();

  for (const packet of worst) isAccepted(packet);

  expect(cpuMs() - started).toBeLessThan(2_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
});
