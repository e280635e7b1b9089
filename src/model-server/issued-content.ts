import { isDeepStrictEqual } from "node:util";
import type { Json } from "./step.ts";

const CHECKED_TYPES = /^(compaction|server_tool_use|mcp_tool_use|.+_tool_result)$/;

/** Remembers what the server has written, to check whether a history repeats it unchanged. */
export class IssuedContent {
  /**
   * All issued thinking blocks, by their signature or data. A map, because each request looks up a history of thousands
   * of turns.
   */
  readonly #thinking = new Map<unknown, Json[]>();
  readonly #types = new Set<string>();
  readonly #checkedBlocks: Json[] = [];
  readonly #thinkingBefore = new Map<string, readonly Json[]>();
  readonly #paused: (readonly Json[])[] = [];

  /** Records the events in a stream that were actually written. */
  record(events: readonly Json[]): void {
    const blocks = assemble(events);
    const thoughts = blocks.filter(isThinking);
    for (const thought of thoughts)
      this.#thinking.set(keyOf(thought), [...(this.#thinking.get(keyOf(thought)) ?? []), thought]);
    for (const block of blocks) {
      this.#types.add(String(block["type"]));
      if (CHECKED_TYPES.test(String(block["type"]))) this.#checkedBlocks.push(block);
      if (block["type"] === "tool_use") this.#thinkingBefore.set(String(block["id"]), thoughts);
    }
    const end = events.find(({ type }) => type === "message_delta")?.["delta"] as Json | undefined;
    if (end?.["stop_reason"] === "pause_turn") this.#paused.push(blocks);
  }

  hasType(type: string): boolean {
    return this.#types.has(type);
  }

  hasThinking(block: Json): boolean {
    return this.#thinking.get(keyOf(block))?.some((issued) => isDeepStrictEqual(issued, plain(block))) ?? false;
  }

  /** Returns the thinking in the message that contains this tool use. */
  thinkingOf(toolUseId: string): readonly Json[] {
    return this.#thinkingBefore.get(toolUseId) ?? [];
  }

  /**
   * Whether a block is as this server wrote it. Returns `false` only for a summary or a server tool's block that was
   * written here and has been changed since.
   */
  isFaithful(block: Json): boolean {
    const key = (each: Json) => `${String(each["type"])} ${String(each["id"] ?? each["tool_use_id"])}`;
    const issued = this.#checkedBlocks.filter((each) => key(each) === key(block));
    return issued.length === 0 || issued.some((each) => isDeepStrictEqual(each, plain(block)));
  }

  /** Whether a message ends with exactly the content of a paused message. */
  endsInPause(content: readonly Json[]): boolean {
    const sent = content.map(plain);
    return this.#paused.some((paused) => {
      const kept = paused.filter((block) => block["type"] !== "text" || block["text"] !== "").map(plain);
      return kept.length > 0 && isDeepStrictEqual(sent.slice(-kept.length), kept);
    });
  }
}

function keyOf({ signature, data }: Json): unknown {
  return signature ?? data;
}

export function isThinking(block: Json): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

/** Returns a block without cache marks and empty citations, for comparison. */
function plain(sent: Json): Json {
  const block = { ...sent };
  delete block["cache_control"];
  if (block["citations"] === null || (Array.isArray(block["citations"]) && block["citations"].length === 0)) {
    delete block["citations"];
  }
  return block;
}

function assemble(events: readonly Json[]): Json[] {
  const blocks = new Map<number, Json>();
  const json = new Map<number, string>();
  for (const event of events) {
    const index = Number(event["index"]);
    if (event["type"] === "content_block_start") blocks.set(index, { ...(event["content_block"] as Json) });
    const block = blocks.get(index);
    if (event["type"] !== "content_block_delta" || !block) continue;
    const delta = event["delta"] as Json;
    if (delta["type"] === "text_delta") block["text"] = String(block["text"]) + String(delta["text"]);
    else if (delta["type"] === "thinking_delta")
      block["thinking"] = String(block["thinking"]) + String(delta["thinking"]);
    else if (delta["type"] === "signature_delta") block["signature"] = delta["signature"];
    else if (delta["type"] === "citations_delta")
      block["citations"] = [...((block["citations"] as Json[] | null) ?? []), delta["citation"]];
    else if (delta["type"] === "compaction_delta") Object.assign(block, { ...delta, type: "compaction" });
    else if (delta["type"] === "input_json_delta")
      json.set(index, (json.get(index) ?? "") + String(delta["partial_json"]));
  }
  for (const [index, value] of json) {
    const block = blocks.get(index);
    if (block) block["input"] = parseOrRaw(value);
  }
  return [...blocks.values()].map(plain);
}

function parseOrRaw(json: string): unknown {
  try {
    return json === "" ? {} : JSON.parse(json);
  } catch {
    return { _raw: json };
  }
}
