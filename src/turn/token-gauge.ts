import type { Measured } from "../conversation/turn-record.ts";

/** What is sent in addition to the history: instructions and tools. */
export interface RequestOverhead {
  /** A different key means different tools. */
  readonly key: string;
  readonly bytes: number;
}

/**
 * Estimates the maximum tokens of a request before the API has counted it: the API's count of an earlier request, plus
 * one token per byte added since. No tokenizer produces more tokens than bytes.
 */
export class TokenGauge {
  #tokens: number | undefined;
  /** Bytes of the counted request that the next request still contains. */
  #retainedBytes = 0;
  #rate: number | undefined;
  #overhead: RequestOverhead | undefined;
  #next = { bytes: 0, overhead: { key: "", bytes: 0 } };

  constructor(measured: Measured | undefined) {
    if (!measured) return;
    this.#tokens = measured.tokens;
    this.#retainedBytes = measured.bytes;
    this.#rate = measured.tokens / Math.max(1, measured.bytes);
  }

  /** Tokens per byte, as of the last count. */
  get rate(): number | undefined {
    return this.#rate;
  }

  get measured(): Measured | undefined {
    return this.#tokens === undefined ? undefined : { tokens: this.#tokens, bytes: this.#retainedBytes };
  }

  /**
   * Returns the estimate for the next request.
   *
   * @param bytes the size of the whole request, including `overhead`
   */
  atMost(bytes: number, overhead: RequestOverhead): number {
    this.#next = { bytes, overhead };
    if (this.#tokens === undefined) return bytes;
    const isSame = this.#overhead?.key === overhead.key;
    const retainedBytes = isSame ? this.#retainedBytes : this.#retainedBytes - (this.#overhead ?? overhead).bytes;
    return Math.min(bytes, this.#tokens + Math.max(0, bytes - Math.max(0, retainedBytes)));
  }

  /** Records the API's count of the request last passed to `atMost`. */
  count(tokens: number): void {
    const { bytes, overhead } = this.#next;
    if (tokens <= 0 || bytes === 0) return;
    this.#tokens = tokens;
    this.#retainedBytes = bytes;
    this.#overhead = overhead;
    this.#rate = tokens / bytes;
  }

  /** Call this when the next request will no longer contain these bytes. */
  remove(bytes: number): void {
    this.#retainedBytes = Math.max(0, this.#retainedBytes - bytes);
  }
}
