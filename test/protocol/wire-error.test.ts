import { expect, test } from "vitest";
import { AppError, ERROR_CODES, type ErrorCode } from "../../src/errors/app-error.ts";
import { conversationIdOfRoom } from "../../src/protocol/conversation-id.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { MalformedMessageError } from "../../src/protocol/messages/parse-message.ts";
import { toWireError } from "../../src/protocol/wire-error.ts";

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

test.each(codes)("the code %s survives the wire", (code) => {
  const body = toWireError(new AppError(code, "What was wrong"), { id: "e", originatingId: "m" });
  const bytes = encodeEnvelope({ stanzaId: -1, conversationId: "c", message: { type: "error_message", body } });

  const { wire, severity, recoverable } = ERROR_CODES[code];
  expect(decodeEnvelope(bytes)).toMatchObject({
    message: { body: { id: "e", code: wire, message: "What was wrong", severity, recoverable, originatingId: "m" } },
  });
});

test.each([new TypeError("secret"), "secret", undefined, null, { code: "malformed" }])(
  "an unexpected error is sent with a fixed text",
  (error) => {
    expect(toWireError(error, { id: "e" })).toEqual({
      id: "e",
      code: 501,
      message: "Internal error",
      severity: 3,
      recoverable: true,
    });
  },
);

test("a malformed message is the sender's fault", () => {
  expect(toWireError(new MalformedMessageError("body: expected a map", {}), { id: "e" })).toMatchObject({ code: 101 });
});

test("a room conv_ac_X belongs to the conversation ac_X, and any other room to the conversation with its name", () => {
  const rooms = ["conv_ac_7", "conv_ac_a b\n", "conv_ac_", "conv_7", "ac_7", "my conv_ac_7", ""];

  expect(rooms.map(conversationIdOfRoom)).toEqual([
    "ac_7",
    "ac_a b\n",
    "conv_ac_",
    "conv_7",
    "ac_7",
    "my conv_ac_7",
    "",
  ]);
});
