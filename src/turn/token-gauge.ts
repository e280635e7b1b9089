import type { Measured } from "../conversation/turn-record.ts";

/** What goes with the history: instructions and tools. */
export interface Others {
  /** Another key means other tools. */
  readonly key: string;
  readonly bytes: number;
}

/**
 * How many tokens a request has at most, before the API has counted it: those that the API counted in an earlier one,
 * and one for each byte that has come since. No tokenizer makes more tokens than bytes.
 */
export class TokenGauge {
  #tokens: number | undefined;
  /** Of the request that was counted, the bytes that are still in the next one. */
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

  /** Tokens a byte, as last counted. */
  get rate(): number | undefined {
    return this.#rate;
  }

  get measured(): Measured | undefined {
    return this.#tokens === undefined ? undefined : { tokens: this.#tokens, bytes: this.#stillThere };
  }

  /** @param bytes of the whole request, with `others` */
  atMost(bytes: number, others: Others): number {
    this.#next = { bytes, others };
    if (this.#tokens === undefined) return bytes;
    const isSame = this.#others?.key === others.key;
    const stillThere = isSame ? this.#stillThere : this.#stillThere - (this.#others ?? others).bytes;
    return Math.min(bytes, this.#tokens + Math.max(0, bytes - Math.max(0, stillThere)));
  }

  /** The API has counted the request that `atMost` was asked about last. */
  count(tokens: number): void {
    const { bytes, others } = this.#next;
    if (tokens <= 0 || bytes === 0) return;
    this.#tokens = tokens;
    this.#stillThere = bytes;
    this.#others = others;
    this.#rate = tokens / bytes;
  }

  /** These bytes will not be in the next request. */
  remove(bytes: number): void {
    this.#stillThere = Math.max(0, this.#stillThere - bytes);
  }
}
