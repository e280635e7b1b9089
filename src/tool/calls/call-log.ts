import { cleanText } from "../../lib/clean-json.ts";

export const CALL_LOG = { lines: 1_000, lineBytes: 4_096, bytes: 64 * 1_024 } as const;
const LINE_CUT = "… [cut]";
const FULL = "[more lines were not kept]";

/**
 * The log of a call: at most 1,000 lines or 64 KiB, and at most 4 KiB per line. A marker shows where something was cut.
 */
export class CallLog {
  #lines: readonly string[];
  #bytes: number;
  #isFull: boolean;

  /** @param lines lines that an earlier worker stored */
  constructor(lines: readonly string[] = []) {
    this.#lines = lines;
    this.#bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    this.#isFull = lines.at(-1) === FULL;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Adds one or more lines, separated by line breaks. Returns `false` if the log is already full. */
  add(text: string): boolean {
    if (this.#isFull) return false;
    // A string that is far too long is cut before it is split.
    for (const line of text.slice(0, 2 * CALL_LOG.bytes).split(/\r\n|\r|\n/)) this.#addLine(line);
    return true;
  }

  #addLine(text: string): void {
    if (this.#isFull) return;
    const line = cutLine(cleanText(text));
    const bytes = this.#bytes + Buffer.byteLength(line);
    this.#isFull = this.#lines.length >= CALL_LOG.lines - 1 || bytes > CALL_LOG.bytes;
    if (!this.#isFull) this.#bytes = bytes;
    this.#lines = [...this.#lines, this.#isFull ? FULL : line];
  }
}

function cutLine(line: string): string {
  if (line.length * 3 <= CALL_LOG.lineBytes || Buffer.byteLength(line) <= CALL_LOG.lineBytes) return line;
  const bytes = Buffer.from(line).subarray(0, CALL_LOG.lineBytes - Buffer.byteLength(LINE_CUT));
  return new TextDecoder().decode(bytes).replace(/\uFFFD+$/u, "") + LINE_CUT;
}
