import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import type { Incoming } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { MESSAGES, type MessageType } from "../../src/protocol/messages/messages.ts";
import { MalformedMessageError } from "../../src/protocol/messages/parse-message.ts";
import { toBytes } from "./golden.ts";
import { cpuMs } from "../support/cpu-ms.ts";

const envelope = { stanzaId: 4, conversationId: "c", meta: {} };
const packet = (type: MessageType, body: unknown) => encode({ ...envelope, type: MESSAGES[type].number, body });

function bodyOf(incoming: Incoming): unknown {
  return "message" in incoming ? incoming.message.body : undefined;
}

function refusal(bytes: Uint8Array): MalformedMessageError {
  try {
    decodeEnvelope(bytes);
  } catch (error) {
    if (error instanceof MalformedMessageError) return error;
    throw error;
  }
  throw new TypeError("The packet was accepted");
}

test("keys may come in any order, mixed with unknown ones", () => {
  const bytes = encode({ body: { content: "hi", x: 1, id: "m" }, y: 2, type: 2, stanzaId: 4, conversationId: "c" });

  expect(decodeEnvelope(bytes)).toEqual({
    ...envelope,
    message: { type: "user_message", body: { id: "m", content: "hi" } },
  });
});

test("integers may be floats, or 64 bits wide", () => {
  const floats = toBytes(
    "84 a87374616e7a614964 cb4319945ca2620000 a474797065 cb4020000000000000 a46d657461 c0 a4626f6479 82" +
      "b4 61636b6e6f776c65646765645374616e7a614964 cf0000000000000009 a773756363657373 c3",
  );

  const incoming = decodeEnvelope(floats);

  expect(incoming).toMatchObject({ stanzaId: 1.8e15, conversationId: "", meta: {} });
  expect(bodyOf(incoming)).toEqual({ acknowledgedStanzaId: 9, success: true });
});

test("an integer beyond 2^53 is refused where an integer is expected", () => {
  const bytes = encode(
    { ...envelope, type: 8, body: { acknowledgedStanzaId: 2n ** 53n + 1n, success: true } },
    { useBigInt64: true },
  );

  expect(refusal(bytes).message).toMatch(/^acknowledgement\.acknowledgedStanzaId: /);
});

test("a 64-bit integer that fits into a number is read as one in a free map", () => {
  const result = { small: 7n, large: 2n ** 53n - 1n };
  const bytes = encode({ ...envelope, type: 7, body: { id: "r", success: true, result } }, { useBigInt64: true });

  expect(bodyOf(decodeEnvelope(bytes))).toEqual({ id: "r", success: true, result: { small: 7, large: 2 ** 53 - 1 } });
});

test.each([
  [{ n: [0, NaN] }, ".n[1]: NaN cannot be represented in JSON"],
  [{ n: -Infinity }, ".n: too large for a number, send it as a string"],
  [{ n: 2n ** 64n - 1n }, ".n: too large for a number, send it as a string"],
])("a free map with %o is refused with the place, and not misread", (result, place) => {
  const bytes = encode({ ...envelope, type: 7, body: { id: "r", success: true, result } }, { useBigInt64: true });

  expect(refusal(bytes)).toMatchObject({ message: `tool_use_result.result${place}`, parts: { id: "r" } });
});

test("nil and another implementation's undefined count as absent", () => {
  const nil = packet("user_message", { id: "m", previousId: null, content: "", attachments: null });
  const undefinedExt = toBytes(
    "84 a87374616e7a61496404 a47479706502 a46d657461d40000 a4626f6479 83 a26964a16d a7636f6e74656e74a0 aa70726576696f75734964d40000",
  );

  expect(bodyOf(decodeEnvelope(nil))).toEqual({ id: "m", content: "" });
  expect(bodyOf(decodeEnvelope(undefinedExt))).toEqual({ id: "m", content: "" });
});

test("an optional id or choice may be an empty text", () => {
  expect(bodyOf(decodeEnvelope(packet("user_message", { id: "m", previousId: "", content: "" })))).toEqual({
    id: "m",
    content: "",
  });
  expect(bodyOf(decodeEnvelope(packet("control_stop", { targetId: "", stopType: "", reason: "" })))).toEqual({
    reason: "",
  });
});

test("without a conversation in the envelope, the body's is used", () => {
  const body = { id: "m", content: "", conversationId: "ac_1" };

  expect(decodeEnvelope(encode({ ...envelope, conversationId: "", type: 2, body })).conversationId).toBe("ac_1");
  expect(decodeEnvelope(encode({ stanzaId: 1, type: 2, body })).conversationId).toBe("ac_1");
});

test.each([
  ["requestId before id", { id: "other", requestId: "r", success: false }, { id: "r", success: false }],
  ["requestId alone", { requestId: "r", success: false }, { id: "r", success: false }],
  ["id alone", { id: "r", success: false }, { id: "r", success: false }],
  ["success without a result", { id: "r", success: true }, { id: "r", success: true, result: {} }],
  ["a nil result", { id: "r", success: true, result: null }, { id: "r", success: true, result: {} }],
  ["a list as result", { id: "r", success: true, result: [1] }, { id: "r", success: true, result: { value: [1] } }],
  ["text as result", { id: "r", success: true, result: "x" }, { id: "r", success: true, result: { value: "x" } }],
  [
    "bytes as result",
    { id: "r", success: true, result: new Uint8Array([1]) },
    { id: "r", success: true, result: { value: { base64: "AQ==" } } },
  ],
  [
    "a failure with a result",
    { id: "r", success: false, result: { a: 1 } },
    { id: "r", success: false, result: { a: 1 } },
  ],
  [
    "a success with an errorCode",
    { id: "r", success: true, errorCode: "x" },
    { id: "r", success: true, errorCode: "x", result: {} },
  ],
  [
    "an errorCode of its own",
    { id: "r", success: false, errorCode: "no_paper" },
    { id: "r", success: false, errorCode: "no_paper" },
  ],
])("a tool result with %s is read", (_, body, expected) => {
  expect(bodyOf(decodeEnvelope(packet("tool_use_result", body)))).toEqual(expected);
});

const request = { id: "r", messageId: "m", toolName: "t", parameters: {}, execution: "client" };
test.each([
  ["no id", "user_message", { content: "" }, "user_message.id: Invalid input: expected string, received undefined"],
  [
    "an empty id",
    "user_message",
    { id: "", content: "" },
    "user_message.id: Too small: expected string to have >=1 characters",
  ],
  [
    "a huge id",
    "user_message",
    { id: "x".repeat(1e6), content: "" },
    "user_message.id: Too big: expected string to have <=256 characters",
  ],
  [
    "a number as id",
    "user_message",
    { id: 1, content: "" },
    "user_message.id: Invalid input: expected string, received number",
  ],
  [
    "bytes as content",
    "user_message",
    { id: "m", content: new Uint8Array(3) },
    "user_message.content: Invalid input: expected string, received Uint8Array",
  ],
  [
    "success 1",
    "tool_use_result",
    { id: "r", success: 1 },
    "tool_use_result.success: Invalid input: expected boolean, received number",
  ],
  [
    'success "true"',
    "tool_use_result",
    { id: "r", success: "true" },
    "tool_use_result.success: Invalid input: expected boolean, received string",
  ],
  [
    "no success",
    "tool_use_result",
    { id: "r", success: null },
    "tool_use_result.success: Invalid input: expected boolean, received undefined",
  ],
  [
    "no execution",
    "tool_use_request",
    { ...request, execution: undefined },
    'tool_use_request.execution: Invalid option: expected one of "server"|"client"|"either"',
  ],
  [
    "execution Client",
    "tool_use_request",
    { ...request, execution: "Client" },
    'tool_use_request.execution: Invalid option: expected one of "server"|"client"|"either"',
  ],
  [
    "timeoutMs -1",
    "tool_use_request",
    { ...request, timeoutMs: -1 },
    "tool_use_request.timeoutMs: Too small: expected number to be >=0",
  ],
  [
    "timeoutMs NaN",
    "tool_use_request",
    { ...request, timeoutMs: NaN },
    "tool_use_request.timeoutMs: Invalid input: expected number, received NaN",
  ],
  [
    "timeoutMs 1.5",
    "tool_use_request",
    { ...request, timeoutMs: 1.5 },
    "tool_use_request.timeoutMs: Invalid input: expected int, received number",
  ],
  [
    "timeoutMs as text",
    "tool_use_request",
    { ...request, timeoutMs: "5" },
    "tool_use_request.timeoutMs: Invalid input: expected number, received string",
  ],
  [
    "no parameters",
    "tool_use_request",
    { ...request, parameters: null },
    "tool_use_request.parameters: Invalid input: expected record, received undefined",
  ],
  [
    "parameters as a list",
    "tool_use_request",
    { ...request, parameters: [] },
    "tool_use_request.parameters: Invalid input: expected record, received array",
  ],
  [
    "a path as tool name",
    "tool_use_request",
    { ...request, toolName: "../x" },
    "tool_use_request.toolName: Invalid string: must match pattern /^[a-zA-Z0-9_-]{1,64}$/",
  ],
] as const)("a message with %s is refused with the field, without its content", (...[, type, body, expected]) => {
  const error = refusal(packet(type, body));

  expect(error).toMatchObject({
    code: "malformed",
    message: expected,
    parts: { stanzaId: 4, conversationId: "c", typeName: type },
  });
});

test.each([0, 2 ** 31, 2 ** 53 - 1])("timeoutMs %d is read", (timeoutMs) => {
  expect(bodyOf(decodeEnvelope(packet("tool_use_request", { ...request, timeoutMs })))).toMatchObject({ timeoutMs });
});

test.each([
  [
    "no stanzaId",
    { type: 2, body: { id: "m" } },
    "stanzaId: expected an integer",
    { conversationId: "c", id: "m", typeName: "user_message" },
  ],
  [
    "a fractional stanzaId",
    { stanzaId: 1.5, type: 2, body: { id: "m" } },
    "stanzaId: expected an integer",
    { conversationId: "c", id: "m", typeName: "user_message" },
  ],
  [
    "type as text",
    { stanzaId: 1, type: "2", body: { id: "m" } },
    "type: expected an integer",
    { stanzaId: 1, conversationId: "c", id: "m" },
  ],
  ["type 2.5", { stanzaId: 1, type: 2.5, body: {} }, "type: expected an integer", { stanzaId: 1, conversationId: "c" }],
  [
    "a list as body",
    { stanzaId: 1, type: 2, body: [] },
    "body: expected a map",
    { stanzaId: 1, conversationId: "c", typeName: "user_message" },
  ],
  [
    "a list as meta",
    { stanzaId: 1, type: 2, meta: [], body: {} },
    "meta: expected a map",
    { stanzaId: 1, conversationId: "c", typeName: "user_message" },
  ],
])("an envelope with %s is refused with the parts that could be read", (...[, fields, message, parts]) => {
  const error = refusal(encode({ conversationId: "c", ...fields }));

  expect(error.message).toBe(message);
  expect(error.parts).toEqual(parts);
});

test("the error for a refused tool result contains its request's id", () => {
  expect(refusal(packet("tool_use_result", { id: "x", requestId: "r", success: "no" })).parts.id).toBe("r");
});

test.each([17, 99, 0, -3, 106, 2 ** 40])("type %d is passed on as unknown, with its id", (type) => {
  expect(decodeEnvelope(encode({ ...envelope, type, body: { id: "u" } }))).toEqual({
    ...envelope,
    unknownType: type,
    id: "u",
  });
  expect(decodeEnvelope(encode({ ...envelope, type, body: "any" }))).toEqual({ ...envelope, unknownType: type });
});

test("a message in the wrong direction is still decoded", () => {
  expect(bodyOf(decodeEnvelope(packet("start_answer", { id: "a", previousId: "u" })))).toEqual({
    id: "a",
    previousId: "u",
  });
});

test("what PostgreSQL cannot store is visibly replaced", () => {
  const surrogate = toBytes(
    "84 a87374616e7a61496404 a47479706502 a46d65746180 a4626f6479 82 a26964a3610062 a7636f6e74656e74a5 61eda08062",
  );

  expect(bodyOf(decodeEnvelope(surrogate))).toEqual({ id: "a\uFFFDb", content: "a\uFFFD\uFFFD\uFFFDb" });
});

test.each([1, 50, 196, 197, 198, 300])("bad UTF-8 is read the same in a string of %d bytes and more", (length) => {
  const content = Buffer.concat([Buffer.from("a".repeat(length)), Buffer.from([0xff, 0xc0, 0x80, 0xe2])]);
  const header = Buffer.from([0xda, content.length >> 8, content.length & 0xff]);
  const bytes = Buffer.concat([
    toBytes("83 a87374616e7a61496404 a47479706502 a4626f6479 83 a26964a16d a7636f6e74656e74"),
    header,
    content,
    toBytes("aa70726576696f75734964 a2c3a9"),
  ]);

  expect(bodyOf(decodeEnvelope(bytes))).toEqual({
    id: "m",
    previousId: "é",
    content: `${"a".repeat(length)}\uFFFD\uFFFD\uFFFD\uFFFD`,
  });
});

test("decoded values do not change with the packet", () => {
  const bytes = packet("tool_use_result", {
    id: "r",
    success: true,
    result: { data: new Uint8Array([1, 2, 3]), text: "t" },
  });
  const body = bodyOf(decodeEnvelope(bytes));
  const before = structuredClone(body);

  bytes.fill(0);

  expect(body).toEqual(before);
});

test("an invalid announced tool is dropped, and the others stay", () => {
  const tools = [
    { name: "good", description: "d", inputSchema: {} },
    { name: "no spaces" },
    { name: "bad_time", timeoutMs: -1 },
    7,
    { name: "bare", execution: null },
  ];

  expect(bodyOf(decodeEnvelope(packet("configuration", { lastSequenceSeen: 3, tools })))).toEqual({
    lastSequenceSeen: 3,
    tools: [
      { name: "good", description: "d", inputSchema: {} },
      { name: "bare", description: "", inputSchema: { type: "object" } },
    ],
    invalidTools: [
      { index: 1, reason: expect.stringMatching(/^tools\[1\]\.name: /) },
      { index: 2, name: "bad_time", reason: expect.stringMatching(/^tools\[2\]\.timeoutMs: /) },
      { index: 3, reason: expect.stringMatching(/^tools\[3\]: /) },
    ],
  });
});

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, {}]));
const nestedMaps = (levels: number): object => (levels === 0 ? {} : { m: nestedMaps(levels - 1) });

test.each([
  ["1,001 keys", { properties: keys(1_001) }, "With this tool, the packet has over 1000 different keys"],
  ["a schema of 40 levels", nestedMaps(40), "The tool is nested over 32 deep"],
  [
    "50,000 values",
    { enum: Array.from({ length: 50_000 }, () => 0) },
    "With this tool, the packet has over 50000 values",
  ],
  ["a long key", { properties: { ["k".repeat(257)]: {} } }, "A key is over 256 bytes"],
  ["a long text", { title: "x".repeat(2 ** 20 + 1) }, "A string is over 1048576 bytes"],
  ["a number that JSON has not", { maximum: NaN }, "tools[1].inputSchema.maximum: NaN cannot be represented in JSON"],
])("a tool with %s is dropped, and the others stay", (_, inputSchema, reason) => {
  const tools = [{ name: "good" }, { name: "bad", inputSchema }, 7, { name: "better" }];
  const own = { description: "", inputSchema: { type: "object" } };

  const incoming = decodeEnvelope(packet("configuration", { features: ["blocks"], tools, lastSequenceSeen: 3 }));

  expect(bodyOf(incoming)).toEqual({
    features: ["blocks"],
    lastSequenceSeen: 3,
    tools: [
      { name: "good", ...own },
      { name: "better", ...own },
    ],
    invalidTools: [
      { index: 1, name: "bad", reason },
      { index: 2, reason: expect.stringMatching(/^tools\[2\]: /) },
    ],
  });
});

const properties = (count: number, index: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}_${index}`, {}]));

test.each([
  ["keys", (index: number) => ({ properties: properties(300, index) })],
  ["values", () => ({ enum: Array.from({ length: 16_000 }, () => 0) })],
])("tools share one limit of %s, and one that exceeds it leaves room for a smaller one", (what, schema) => {
  const large = Array.from({ length: 6 }, (_, index) => ({ name: `tool_${index}`, inputSchema: schema(index) }));
  const tools = [...large, { name: "small", inputSchema: { properties: properties(50, 9) } }];

  const body = bodyOf(decodeEnvelope(packet("configuration", { tools })));

  const reason = expect.stringMatching(
    new RegExp(`^With this tool, the packet has over \\d+ .*${what}$`, "u"),
  ) as string;
  expect(body).toMatchObject({
    tools: [...large.slice(0, 3), { name: "small" }],
    invalidTools: [3, 4, 5].map((index) => ({ index, name: `tool_${index}`, reason })),
  });
});

test("a Configuration with an error outside of its tools is refused entirely", () => {
  const { message, parts } = refusal(packet("configuration", { device: nestedMaps(40), tools: [{ name: "good" }] }));

  expect([message, parts.typeName]).toEqual(["The packet is nested over 32 deep", "configuration"]);
});

test("a list of tools is read up to the limit, and one error says that there were more", () => {
  const named = Array.from({ length: 70 }, (_, index) => ({ name: `tool_${index}` }));
  const tools = [...named, ...Array.from({ length: 49_000 }, () => 0)];

  expect(bodyOf(decodeEnvelope(packet("configuration", { tools })))).toEqual({
    tools: named.slice(0, 64).map((tool) => ({ ...tool, description: "", inputSchema: { type: "object" } })),
    invalidTools: [{ index: 64, name: "tool_64", reason: "only the first 64 tools are used" }],
  });
});

test.each([
  ["user_message", "attachments"],
  ["configuration", "features"],
] as const)("a %s is refused unread when its list of %s is too long", (type, field) => {
  const list = Array.from({ length: 1_001 }, () => 0);
  const { code, message } = refusal(packet(type, { id: "a", content: "Hi", [field]: list }));

  expect(`${code} ${message}`).toBe(`too_large ${type}.${field}: over 1000 items`);
});

test("a missing tool list is not an empty one", () => {
  expect(bodyOf(decodeEnvelope(packet("configuration", { features: [] })))).toEqual({ features: [] });
  expect(bodyOf(decodeEnvelope(packet("configuration", { tools: [], invalidTools: [1] })))).toEqual({ tools: [] });
  expect(refusal(packet("configuration", { tools: "all" })).message).toMatch(/^configuration\.tools: /);
});

test("an ErrorMessage is read even if its severity is invalid", () => {
  const body = { id: "e", code: 501, message: "m", severity: 9 };

  expect(bodyOf(decodeEnvelope(packet("error_message", body)))).toEqual({ ...body, severity: 2, recoverable: true });
});

test.each([
  ["error_message", { code: 501, message: "m", severity: 2, recoverable: true }],
  ["assistant_sentence", { previousId: "a", sequence: 1, text: "Hi.", isFinal: true }],
] as const)("a %s from an older peer needs no id", (type, body) => {
  expect(bodyOf(decodeEnvelope(packet(type, body)))).toEqual(body);
  expect(bodyOf(decodeEnvelope(packet(type, { ...body, id: "" })))).toEqual(body);
});

test.each([
  ["assistant_sentence", { id: "s", previousId: "a", sequence: 0, text: "Hi.", isFinal: true }],
  ["reasoning_step", { id: "r", messageId: "a", sequence: 0, content: "So." }],
] as const)("a %s from an older peer counts from 0", (type, body) => {
  expect(bodyOf(decodeEnvelope(packet(type, body)))).toEqual(body);
});

test("a cancel with an unknown reason still cancels", () => {
  expect(bodyOf(decodeEnvelope(packet("tool_use_cancel", { id: "r", reason: "moon" })))).toEqual({
    id: "r",
    reason: "closed",
  });
});

test("audio is accepted whatever it contains", () => {
  expect(bodyOf(decodeEnvelope(packet("audio_chunk", { data: new Uint8Array(10), id: 4 })))).toEqual({});
});

const deep = JSON.parse("[".repeat(40) + "]".repeat(40)) as unknown;
const tooMany = Array.from({ length: 50_001 }, () => 1);
test.each([
  ["a long string", "x".repeat(1_048_577)],
  ["too much depth", deep],
  ["too many values", tooMany],
])("a tool result with %s is refused, and the error contains its request's id", (_, result) => {
  const body = { result, success: true, requestId: "r", id: "x" };
  const bytes = encode(
    { meta: { result }, body, type: 7, conversationId: "c", stanzaId: 2n ** 40n },
    { useBigInt64: true },
  );

  const error = refusal(bytes);

  expect(error).toMatchObject({
    code: "too_large",
    parts: { stanzaId: 2 ** 40, conversationId: "c", id: "r", typeName: "tool_use_result" },
  });
});

test("from a packet that is cut off, everything before the cut can be read", () => {
  const bytes = encode({ stanzaId: 3, type: 2, body: { id: "m", content: "hello" } });

  expect(refusal(bytes.subarray(0, -1)).parts).toEqual({ stanzaId: 3, id: "m", typeName: "user_message" });
});

test.each(["", "90", "01", "c1", "81a4626f6479", "81a4626f647990c1"])(
  "from the bytes %s nothing can be read",
  (hex) => {
    expect(refusal(toBytes(hex))).toMatchObject({ code: "malformed", parts: {} });
  },
);

test("scanning 4 MiB of small values takes no longer than the limit for a scan", () => {
  const bytes = new Uint8Array(4_194_304).fill(1);
  bytes.set(toBytes("82 a161 dd003fff00"));
  const started = cpuMs();

  expect(refusal(bytes).code).toBe("too_large");
  expect(cpuMs() - started).toBeLessThan(1_000);
});

test.each([
  ["permission_response", { permissionId: "p", response: "maybe" }, "p"],
  ["control_stop", { targetId: "t", stopType: "slowly" }, "t"],
  ["control_variation", { targetId: "t", mode: "louder" }, "t"],
] as const)("a wrong %s is refused with the id that it contains", (type, body, id) => {
  expect(() => decodeEnvelope(packet(type, body))).toThrow(
    expect.objectContaining({ parts: expect.objectContaining({ id }) }),
  );
});
