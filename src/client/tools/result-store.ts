import { evictOldest } from "../../lib/evict-oldest.ts";
import type { ToolResult } from "./run-tool.ts";

const MAX_IDS = 5_000;
const MAX_RESULTS = 256;
const MAX_BYTES = 8 * 1024 * 1024;

interface StoredResult {
  readonly result: ToolResult;
  readonly sizeBytes: number;
}

/**
 * Stores sent results, so that a repeated request is answered from here instead of running again. Evicts the oldest
 * results first. Ids are stored longer than results, and still prevent a second run.
 */
export class ResultStore {
  readonly #ids = new Set<string>();
  readonly #results = new Map<string, StoredResult>();
  #sizeBytes = 0;

  add(result: ToolResult, sizeBytes: number): void {
    this.#ids.add(result.id);
    this.#results.set(result.id, { result, sizeBytes });
    this.#sizeBytes += sizeBytes;
    while (this.#results.size > MAX_RESULTS || this.#sizeBytes > MAX_BYTES) this.#forgetOldest();
    evictOldest(this.#ids, MAX_IDS);
  }

  /** Returns `undefined` if the id has no result yet, and an error result if the result was evicted. */
  find(id: string): ToolResult | undefined {
    const stored = this.#results.get(id);
    if (stored || !this.#ids.has(id)) return stored?.result;
    const errorMessage = "The client no longer has the result of this request";
    return { id, success: false, errorCode: "execution_error", errorMessage };
  }

  #forgetOldest(): void {
    for (const [id, { sizeBytes }] of this.#results) {
      this.#results.delete(id);
      this.#sizeBytes -= sizeBytes;
      return;
    }
  }
}
