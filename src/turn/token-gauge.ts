import type { Measured } from "../conversation/turn-record.ts";

/** What is sent in addition to the history: instructions and tools. */
export interface Others {
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
  #stillThere = 0;
  #rate: number | undefined;
  #others: Others | undefined;
  #next = { bytes: 0, others: { key: "", bytes: 0 } };

  constructor(measured: Measured | undefined) {
    if (!measured) return;
    this.#tokens = measured.tokens;
    this.#stillThere = measured.bytes;
    this.#rate = measured.tokens / Math.max(1, measured.bytes);
  }

  /** Tokens per byte, as of the last count. */
  get rate(): number | undefined {
    return this.#rate;
  }

  get measured(): Measured | undefined {
    return this.#tokens === undefined ? undefined : { tokens: this.#tokens, bytes: this.#stillThere };
  }

  /** @param bytes the size of the whole request, including `others` */
  atMost(bytes: number, others: Others): number {
    this.#next = { bytes, others };
    if (this.#tokens === undefined) return bytes;
    const isSame = this.#others?.key === others.key;
    const stillThere = isSame ? this.#stillThere : this.#stillThere - (this.#others ?? others).bytes;
    return Math.min(bytes, this.#tokens + Math.max(0, bytes - Math.max(0, stillThere)));
  }

  /** Records the API's count of the request last passed to `atMost`. */
  count(tokens: number): void {
    const { bytes, others } = this.#next;
    if (tokens <= 0 || bytes === 0) return;
    this.#tokens = tokens;
    this.#stillThere = bytes;
    this.#others = others;
    this.#rate = tokens / bytes;
  }

  /** Call this when the next request will no longer contain these bytes. */
  remove(bytes: number): void {
    this.#stillThere = Math.max(0, this.#stillThere - bytes);
  }
}
