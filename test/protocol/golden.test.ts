import { decode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { MESSAGES } from "../../src/protocol/messages/messages.ts";
import { goldens, toBytes, toEnvelope, toHex } from "./golden.ts";

test("every message type has golden bytes", () => {
  expect(goldens.map(({ type }) => type).toSorted()).toEqual(Object.keys(MESSAGES).toSorted());
});

test.each(goldens)("a $type is encoded to its golden bytes", (golden) => {
  expect(toHex(encodeEnvelope(toEnvelope(golden)))).toBe(golden.hex);
});

test.each(goldens)("the golden bytes of a $type are decoded to its message", (golden) => {
  expect(decodeEnvelope(toBytes(golden.hex))).toEqual(toEnvelope(golden));
});

test.each(goldens)("any MessagePack decoder reads a $type the same", (golden) => {
  const { stanzaId, conversationId, meta, type, body } = golden;

  const raw = decode(toBytes(golden.hex)) as Record<string, unknown>;

  expect(Object.keys(raw)).toEqual(["stanzaId", "conversationId", "type", "meta", "body"]);
  expect(raw).toMatchObject({ stanzaId, conversationId, type: MESSAGES[type].number, meta });
  expect(raw["body"]).toMatchObject({ conversationId, ...body });
});
