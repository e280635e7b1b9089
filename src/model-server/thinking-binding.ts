import { createHash } from "node:crypto";
import { isThinking } from "./issued-content.ts";
import { listOf } from "./message.ts";
import type { Json } from "./step.ts";

/**
 * Implements a rule of Claude Opus 5.5, Sonnet 5.5 and Haiku 5.5: a thinking block is accepted only if the tools,
 * system text and messages before it are the same as when it was written. Older thinking may be omitted.
 */
export class ThinkingBinding {
  /**
   * Hashes of everything before a thinking block, by the block's signature. Equal thinking blocks share a signature.
   */
  readonly #prefixes = new Map<unknown, Set<string>>();

  /** Records the thinking written in answer to a request. */
  record(events: readonly Json[], body: Json): void {
    const prefix = prefixesOf(body).at(-1) ?? "";
    for (const { delta } of events as { delta?: Json }[]) {
      if (delta?.["type"] !== "signature_delta") continue;
      const known = this.#prefixes.get(delta["signature"]) ?? new Set();
      this.#prefixes.set(delta["signature"], known.add(prefix));
    }
  }

  /** Returns why the API would reject a request, in the API's words, or `undefined` if the request is valid. */
  problemOf(body: Json): string | undefined {
    const prefixes = prefixesOf(body);
    for (const [at, { content }] of listOf(body["messages"]).entries())
      for (const [index, { type, signature }] of listOf(content).entries())
        if (type === "thinking" && this.#prefixes.get(signature)?.has(prefixes[at] ?? "") === false)
          return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
    return undefined;
  }
}

/** Returns a hash of everything before each message, followed by a hash of the whole request. */
function prefixesOf(body: Json): string[] {
  const hash = createHash("sha256").update(JSON.stringify([body["tools"], body["system"]].map(plain)));
  const before = listOf(body["messages"]).map(({ role, content }) => {
    const prefix = hash.copy().digest("hex");
    hash.update(JSON.stringify([role, plain(listOf(content).filter((block) => !isThinking(block)))]));
    return prefix;
  });
  return [...before, hash.digest("hex")];
}

/** Removes cache marks, which are not part of the content. */
function plain(list: unknown): unknown {
  return Array.isArray(list) ? (list as Json[]).map(({ cache_control: _mark, ...item }) => item) : list;
}
