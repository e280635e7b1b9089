/**
 * Topic of Parley's packets and byte streams. Packets without a topic are accepted, too. Packets with another topic are
 * ignored.
 */
export const TOPIC = "parley";

/** Limits that both ends observe. Sizes are bytes of the encoded form. */
export const MESSAGE_LIMITS = {
  envelopeBytes: 4 * 1024 * 1024,
  /** Larger envelopes are sent as a byte stream instead of a data packet. */
  packetBytes: 15_000,
  /** Maximum nesting of maps and arrays, including the envelope itself. */
  depth: 32,
  /** Map values, array items and the envelope itself. Keys are not counted. */
  values: 50_000,
  /** Across all maps in a packet. Maps with new keys are the most expensive ones to decode. */
  differentKeys: 1_000,
  stringBytes: 1024 * 1024,
  keyBytes: 256,
  /** Characters in an id or conversation id. */
  idLength: 256,
  announcedTools: 64,
  /** Items in any other list that is a field of a body. */
  listItems: 1_000,
  sendsInFlight: 8,
} as const;

/**
 * Limits that only the worker observes. Written as literal numbers, because esbuild would include computed values in
 * the client SDK.
 */
const WORKER_LIMITS = {
  /**
   * What a tool or a message may show to the model: number of blocks, bytes of one image or document, bytes in total.
   */
  contentBlocks: 20,
  mediaBytes: 3_145_728,
  contentBytes: 6_291_456,
  /**
   * How long a result may be as JSON, and how long the text of its content may be. Equals the largest message that an
   * MCP server may send.
   */
  resultCharacters: 10_485_760,
  /** How long a result's `display` may be, as JSON. */
  displayBytes: 131_072,
  /** The limit for strings that are usually short, such as a note on a message or an error's message. */
  shortTextBytes: 16_384,
  openCalls: 64,
  /**
   * How many messages one participant may send in a burst, and in each second after it. Messages that the worker
   * requested do not count.
   */
  messageBurst: 200,
  messagesPerSecond: 50,
  /** The same for ToolUseProgress, which does not count toward the two limits above. */
  progressBurst: 100,
  progressPerSecond: 20,
  /** How long a message may be to count as one message. A longer one counts as several. */
  bytesPerToken: 4_096,
  loggedEnvelopes: 500,
  loggedBytes: 1_048_576,
  /** How many byte streams one participant may have open to the worker, and their total size. */
  openStreams: 64,
  openStreamBytes: 16_777_216,
  unidentifiedSenderMs: 3_500,
} as const;

/**
 * The numbers under "Limits" in docs/protocol.md. The client SDK uses only `MESSAGE_LIMITS`, so bundlers drop the
 * others.
 */
export const LIMITS = /* @__PURE__ */ Object.assign({}, MESSAGE_LIMITS, WORKER_LIMITS);

/** Times of a tool call, in ms. */
export const TOOL_TIMES = {
  defaultTimeoutMs: 30_000,
  maxTimeoutMs: 600_000,
  /** Added to `timeoutMs` for the worker's own deadline. */
  graceMs: 1_000,
  /** How long a client may take to claim a call sent as `either`. */
  claimMs: 1_000,
  /** How long a call waits for its participant to reconnect. */
  returnMs: 10_000,
} as const;

export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Returns the closest valid tool name. A model may request a tool by any string. */
export function toToolName(name: string): string {
  return TOOL_NAME.test(name) ? name : name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_";
}
