import { keepNewest } from "../../lib/keep-newest.ts";
import { type ToolResult } from "./run-tool.ts";

const MAX_IDS = 5_000;
const MAX_RESULTS = 256;
const MAX_BYTES = 8 * 1024 * 1024;

interface StoredResult {
  readonly result: ToolResult;
  readonly sizeBytes: number;
}

/**
 * The results we gave, so that a request that comes again is answered again and not run again. The oldest results are
 * let go first; of those the id alone is kept, which still forbids a second run.
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
    keepNewest(this.#ids, MAX_IDS);
  }

  /** `undefined` for an id that has had no result. */
  find(id: string): ToolResult | undefined {
    const stored = this.#results.get(id);
    if (stored || !this.#ids.has(id)) return stored?.result;
    const errorMessage = "The result of this request is no longer held by the client";
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
