const KEPT_BYTES = 30_000;

/** A command's output: the first and the last 30 KB, with a marker for the part omitted in between. */
export class CommandOutput {
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get isTruncated(): boolean {
    return this.#sizeBytes > 2 * KEPT_BYTES;
  }

  add(bytes: Buffer): void {
    this.#sizeBytes += bytes.length;
    const toHead = bytes.subarray(0, KEPT_BYTES - this.#headBytes);
    this.#head.push(toHead);
    this.#headBytes += toHead.length;
    this.#tail.push(bytes.subarray(toHead.length));
    this.#tailBytes += bytes.length - toHead.length;
    if (this.#tailBytes > 4 * KEPT_BYTES) this.#trim();
  }

  get text(): string {
    this.#trim();
    const [head, tail] = [Buffer.concat(this.#head), Buffer.concat(this.#tail)];
    const leftOut = this.#sizeBytes - head.length - tail.length;
    if (leftOut === 0) return Buffer.concat([head, tail]).toString();
    return `${head.toString()}\n[${leftOut} bytes are left out here]\n${tail.toString()}`;
  }

  #trim(): void {
    this.#tail = [Buffer.concat(this.#tail).subarray(-KEPT_BYTES)];
    this.#tailBytes = this.#tail[0]?.length ?? 0;
  }
}
