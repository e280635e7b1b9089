import { setImmediate } from "node:timers/promises";
import { asText, isRecord } from "../lib/json.ts";
import { ModelError, toStreamError } from "./model-error.ts";
import { addUsage, type BlockDelta, type ModelEvent, NO_USAGE, type Usage } from "./model-event.ts";
import { type OpenBlock, applyDelta, asJson, closeBlock, openBlock } from "./open-block.ts";
import { storedTypeOf, toStoredBlock } from "./to-stored-block.ts";

/**
 * The maximum number of characters in all deltas of a message. Claude's longest answers (128,000 tokens) have about
 * 600,000.
 */
const MAX_WRITTEN_LENGTH = 2 * 1024 * 1024;
/**
 * The maximum number of blocks in a message, including empty ones. Claude's longest answers, with citations, have a few
 * hundred.
 */
const MAX_BLOCKS = 2_000;
/**
 * The maximum number of characters in a delta. Each delta is searched for sentences in one go, so a longer delta would
 * block other sessions.
 */
const MAX_DELTA_LENGTH = 16_384;

/**
 * Reads the raw events of one Messages API stream. Arguments are collected in pieces and parsed once, so the cost is
 * linear in their length. Malformed streams are handled without throwing:
 *
 * - events of an unknown type, and deltas and stops for a block that is not open: ignored
 * - a block that starts at the index of an open block: the open block is closed first, its arguments marked as cut off
 * - blocks still open at message_stop: closed in the same way
 * - a delta longer than `MAX_DELTA_LENGTH`, such as the whole answer of a gateway that does not stream: passed on in
 *   pieces, yielding to other work in between
 * - a tool use without an id or a name, or with an id that the message already used: dropped with its deltas (the API
 *   refuses it in the history, and no tool may run twice for one use)
 *
 * @throws {ModelError} for the API's `error` event; `broken_stream` if the stream ends before `message_stop`;
 *   `endless_stream` if the model writes more than `MAX_WRITTEN_LENGTH` or `MAX_BLOCKS`
 */
export async function* readStream(events: AsyncIterable<unknown>): AsyncGenerator<ModelEvent, void, undefined> {
  const message = new MessageReader();
  try {
    for await (const event of events) {
      // After `message_stop`, reads on to the end of the stream, so that the connection can be reused.
      if (message.isWhole || !isRecord(event)) continue;
      for (const read of message.read(event)) {
        if (read.type === "block_delta" && isLong(read.delta))
          for await (const delta of inPieces(read.delta)) yield { ...read, delta };
        else yield read;
      }
    }
  } catch (error) {
    if (!message.isWhole) throw error;
  }
  if (!message.isWhole) throw new ModelError("broken_stream");
}

/** Converts a stream's raw events to model events. Holds the open blocks, and the totals of the message. */
class MessageReader {
  /** Whether the message is complete. */
  isWhole = false;
  readonly #open = new Map<number, OpenBlock>();
  readonly #toolUseIds = new Set<string>();
  readonly #totals = new MessageTotals();
  #writtenLength = 0;
  #blockCount = 0;

  *read(event: Raw): Generator<ModelEvent, void, undefined> {
    const index = typeof event["index"] === "number" ? event["index"] : -1;
    const block = this.#open.get(index);
    switch (event["type"]) {
      case "content_block_delta":
        if (block && isRecord(event["delta"])) yield this.#grow(index, block, event["delta"]);
        return;
      case "content_block_start":
        if (index >= 0 && isRecord(event["content_block"])) yield* this.#start(index, block, event["content_block"]);
        return;
      case "content_block_stop":
        if (block) yield stopEvent(index, block, false);
        this.#open.delete(index);
        return;
      case "message_start":
        yield this.#totals.start(event["message"]);
        return;
      case "message_delta":
        return this.#totals.change(event["delta"], event["usage"]);
      case "message_stop": {
        const stop = this.#totals.stop();
        for (const [cutIndex, cut] of this.#open) yield stopEvent(cutIndex, cut, true);
        this.isWhole = true;
        yield stop;
        return;
      }
      case "error":
        throw toStreamError(event);
      default:
    }
  }

  #grow(index: number, block: OpenBlock, raw: Raw): ModelEvent {
    const delta = applyDelta(block, raw);
    if (delta.type !== "other") this.#writtenLength += writtenIn(delta).length;
    if (this.#writtenLength > MAX_WRITTEN_LENGTH) throw new ModelError("endless_stream");
    return { type: "block_delta", index, delta };
  }

  /** @param before the open block at the same index */
  *#start(index: number, before: OpenBlock | undefined, raw: Raw): Generator<ModelEvent, void, undefined> {
    if (++this.#blockCount > MAX_BLOCKS) throw new ModelError("endless_stream");
    if (before) yield stopEvent(index, before, true);
    this.#open.delete(index);
    const next = openBlock(raw);
    if (!isUsable(next, this.#toolUseIds)) return;
    this.#open.set(index, next);
    yield startEvent(index, next);
  }
}

type Raw = Readonly<Record<string, unknown>>;

/** What the API reports about the message as a whole. */
class MessageTotals {
  #usage = NO_USAGE;
  #compaction = NO_USAGE;
  #stopReason: string | undefined;
  #stopDetails: unknown = null;
  #containerId: string | undefined;

  start(raw: unknown): ModelEvent {
    const message = isRecord(raw) ? raw : {};
    this.#usage = mergeUsage(this.#usage, message["usage"]);
    return { type: "message_start", id: asText(message["id"]), model: asText(message["model"]), usage: this.#usage };
  }

  change(raw: unknown, usage: unknown): void {
    const delta = isRecord(raw) ? raw : {};
    this.#usage = mergeUsage(this.#usage, usage);
    this.#compaction = compactionOf(usage) ?? this.#compaction;
    if (typeof delta["stop_reason"] === "string") this.#stopReason = delta["stop_reason"];
    this.#stopDetails = delta["stop_details"] ?? this.#stopDetails;
    if (isRecord(delta["container"])) this.#containerId = asText(delta["container"]["id"]);
  }

  /** @throws {ModelError} `broken_stream` if the message has no stop reason */
  stop(): ModelEvent {
    const [stopReason, stopDetails, containerId] = [this.#stopReason, this.#stopDetails, this.#containerId];
    if (stopReason === undefined) throw new ModelError("broken_stream");
    const usage = addUsage(this.#usage, this.#compaction);
    return { type: "message_stop", stopReason, stopDetails, usage, ...(containerId && { containerId }) };
  }
}

type Written = Exclude<BlockDelta, { type: "other" }>;

function writtenIn(delta: Written): string {
  return delta.type === "input_json" ? delta.partialJson : delta.text;
}

function isLong(delta: BlockDelta): delta is Written {
  return delta.type !== "other" && writtenIn(delta).length > MAX_DELTA_LENGTH;
}

async function* inPieces(delta: Written): AsyncGenerator<Written, void, undefined> {
  for (const [piece] of writtenIn(delta).matchAll(PIECES)) {
    yield delta.type === "input_json" ? { type: delta.type, partialJson: piece } : { type: delta.type, text: piece };
    await setImmediate();
  }
}

/** Matches the pieces of a long delta. The `u` flag keeps surrogate pairs together. */
const PIECES = new RegExp(`[^]{1,${MAX_DELTA_LENGTH / 2}}`, "gu");

/**
 * Whether the API would accept the block in the history. Returns false only for invalid tool uses. Adds the id of a
 * valid tool use to `toolUseIds`.
 */
function isUsable({ type, raw }: OpenBlock, toolUseIds: Set<string>): boolean {
  if (type !== "tool_use" && type !== "server_tool_use" && type !== "mcp_tool_use") return true;
  const id = asText(raw["id"]);
  if (id === "" || asText(raw["name"]) === "" || toolUseIds.has(id)) return false;
  toolUseIds.add(id);
  return true;
}

function startEvent(index: number, { type, raw }: OpenBlock): ModelEvent {
  const blockType = storedTypeOf(asJson(raw));
  if (type !== "tool_use" && type !== "server_tool_use") return { type: "block_start", index, blockType };
  const tool = { toolUseId: asText(raw["id"]), toolName: asText(raw["name"]) };
  return { type: "block_start", index, blockType, tool };
}

function stopEvent(index: number, open: OpenBlock, isCut: boolean): ModelEvent {
  const { raw, inputError } = closeBlock(open, isCut);
  const block = toStoredBlock(asJson(raw));
  return { type: "block_stop", index, block, ...(inputError !== undefined && { inputError }) };
}

/** Returns the tokens that the API spent on its own summaries during the call. Its other counts exclude them. */
function compactionOf(raw: unknown): Usage | undefined {
  if (!isRecord(raw) || !Array.isArray(raw["iterations"])) return undefined;
  const made = raw["iterations"].filter((one) => isRecord(one) && one["type"] === "compaction");
  return made.reduce((sum: Usage, one) => addUsage(sum, mergeUsage(NO_USAGE, one)), NO_USAGE);
}

/**
 * Merges counts. The API's counts are running totals: a newer number replaces the older one, and a missing number
 * changes nothing.
 */
function mergeUsage(before: Usage, raw: unknown): Usage {
  if (!isRecord(raw)) return before;
  const numberOr = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);
  return {
    inputTokens: numberOr(raw["input_tokens"], before.inputTokens),
    outputTokens: numberOr(raw["output_tokens"], before.outputTokens),
    cacheReadTokens: numberOr(raw["cache_read_input_tokens"], before.cacheReadTokens),
    cacheWriteTokens: numberOr(raw["cache_creation_input_tokens"], before.cacheWriteTokens),
  };
}
