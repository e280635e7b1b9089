/** Topic of Parley's packets and byte streams. A packet without a topic is taken too, one with another is ignored. */
export const TOPIC = "parley";

/** Both ends keep to these. Sizes are bytes of the encoded form. */
export const MESSAGE_LIMITS = {
  envelopeBytes: 4 * 1024 * 1024,
  /** Above it a frame travels as a byte stream instead of a data packet. */
  packetBytes: 15_000,
  /** Maps and arrays inside each other, the envelope itself included. */
  depth: 32,
  /** Map values, array items and the envelope itself; keys are not counted. */
  values: 50_000,
  /** In all maps of a packet together; a map with a key that it has not had before costs a reader most. */
  differentKeys: 1_000,
  stringBytes: 1024 * 1024,
  keyBytes: 256,
  /** Characters of an id, a conversation id included. */
  idLength: 256,
  announcedTools: 64,
  /** Items of any other list that is a field of a body. */
  listItems: 1_000,
  sendsInFlight: 8,
} as const;

/** What the worker keeps to beside them. Without sums: esbuild would take them along for the client SDK. */
const WORKER_LIMITS = {
  /** What a tool or a message gives the model to see: blocks, bytes of one picture or document, bytes of all. */
  contentBlocks: 20,
  mediaBytes: 3_145_728,
  contentBytes: 6_291_456,
  /** Of a result as JSON, and of the texts of its content: as much as an MCP server may send in one message. */
  resultCharacters: 10_485_760,
  /** Of a result's `display`, as JSON. */
  displayBytes: 131_072,
  /** Of texts that need not be long: a note on a message, an error's message. */
  shortTextBytes: 16_384,
  openCalls: 64,
  /** Messages from one participant, without those that the worker has asked it for. */
  messageBurst: 200,
  messagesPerSecond: 50,
  /** Of ToolUseProgress, which takes nothing of the two before. */
  progressBurst: 100,
  progressPerSecond: 20,
  /** A larger message counts as several. */
  bytesPerToken: 4_096,
  loggedEnvelopes: 500,
  loggedBytes: 1_048_576,
  /** From one participant to the worker. */
  openStreams: 64,
  openStreamBytes: 16_777_216,
  unidentifiedSenderMs: 3_500,
} as const;

/** The numbers under "Limits" in docs/protocol.md. Left out of the client SDK, which uses the first half alone. */
export const LIMITS = /* @__PURE__ */ Object.assign({}, MESSAGE_LIMITS, WORKER_LIMITS);

/** Times of a tool call, in ms. */
export const TOOL_TIMES = {
  defaultTimeoutMs: 30_000,
  maxTimeoutMs: 600_000,
  /** What the worker adds to `timeoutMs` for its own deadline. */
  graceMs: 1_000,
  /** How long a client may take to claim a call sent as `either`. */
  claimMs: 1_000,
  /** How long a call waits for its participant to come back. */
  returnMs: 10_000,
} as const;

export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The nearest valid tool name: a model may ask for a tool by any text. */
export function toToolName(name: string): string {
  return TOOL_NAME.test(name) ? name : name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_";
}
