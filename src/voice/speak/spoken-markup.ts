import { primaryLanguage } from "../../lib/language-tag.ts";
import { ReadableStream } from "node:stream/web";
import { voice } from "@livekit/agents";

const { applyTextTransforms } = voice.textTransforms;

/** Spoken in place of code, keyed by the primary subtag of a BCP 47 tag. */
const CODE: Readonly<Record<string, string>> = {
  de: "Hier steht Code.",
  en: "Here is some code.",
  es: "Aquí hay código.",
  fr: "Voici du code.",
  it: "Ecco del codice.",
  nl: "Hier staat code.",
  pt: "Aqui está o código.",
};

/** The markers of quotes and list items, which may precede a code fence or a table on its line. */
const BLOCK_MARKS = /^(?:\s*(?:[-*+>]|\p{Nd}{1,9}[.)])\s)*\s*/u;
const FENCE = /^(`{3,}|~{3,})/;
const DELIMITER = /^:?-+:?$/;

/**
 * Converts Markdown to words that can be spoken. Write the text in pieces, each of which ends at the end of a sentence
 * or of a line. A table is read row by row, with the column's name before each cell. Code is only mentioned.
 */
export class SpokenMarkup {
  readonly #code: string;
  /** The opening fence of the current code block. */
  #fence: string | undefined;
  /** Column names of the current table, empty if it has none. Undefined before they are known, and outside a table. */
  #columns: readonly string[] | undefined;
  /** The table's first row, until the next line shows whether it contains the column names. */
  #first: readonly string[] | undefined;
  #isInRow = false;
  #row = "";
  /**
   * A line that may contain the column names of a table whose rows do not start with `|`. The next line shows whether
   * it does.
   */
  #names: string | undefined;
  /** Whether the rows of the current table do not start with `|`. */
  #isBare = false;

  constructor(language: string | undefined) {
    this.#code = CODE[primaryLanguage(language)] ?? CODE["en"] ?? "";
  }

  /** Returns the words to speak for a piece, possibly none. */
  async write(piece: string): Promise<string> {
    return plain(this.#read(piece));
  }

  /** Returns the remaining words at the end of the text. */
  async end(): Promise<string> {
    return plain(this.#endNames() + this.#endRow() + this.#endTable());
  }

  #read(piece: string): string {
    const content = piece.replace(BLOCK_MARKS, "");
    const fence = FENCE.exec(content)?.[1];
    if (this.#fence !== undefined) {
      if (fence?.startsWith(this.#fence)) this.#fence = undefined;
      return "";
    }
    if (this.#names !== undefined && content.includes("|") && isDelimiter(cellsOf(content))) {
      this.#first = cellsOf(this.#names.replace(BLOCK_MARKS, ""));
      this.#columns = undefined;
      this.#names = undefined;
      this.#isBare = true;
      this.#row = content;
      return this.#endRow();
    }
    const held = this.#endNames();
    if (this.#isInRow || content.startsWith("|") || (this.#isBare && content.includes("|"))) {
      // A row may contain several sentences.
      this.#row += this.#isInRow ? piece : content;
      this.#isInRow = !piece.includes("\n");
      return this.#isInRow ? held : held + this.#endRow();
    }
    const before = held + this.#endTable();
    if (fence !== undefined) {
      this.#fence = fence;
      return `${before}${this.#code}\n`;
    }
    if (!content.endsWith("\n") || !content.includes("|")) return before + piece;
    this.#names = piece;
    return before;
  }

  /** Returns the line that was held back, because it does not contain column names. */
  #endNames(): string {
    const names = this.#names ?? "";
    this.#names = undefined;
    return names;
  }

  #endRow(): string {
    if (this.#row === "") return "";
    const cells = cellsOf(this.#row);
    this.#row = "";
    this.#isInRow = false;
    if (isDelimiter(cells)) {
      this.#columns = this.#first;
      this.#first = undefined;
      return "";
    }
    if (this.#columns) return toSentence(cells, this.#columns);
    if (!this.#first) {
      this.#first = cells;
      return "";
    }
    // The table has no column names.
    const first = toSentence(this.#first);
    this.#first = undefined;
    this.#columns = [];
    return first + toSentence(cells);
  }

  #endTable(): string {
    const first = this.#first ? toSentence(this.#first) : "";
    this.#first = undefined;
    this.#columns = undefined;
    this.#isBare = false;
    return first;
  }
}

/** Removes the remaining Markdown markup, and emoji. */
async function plain(text: string): Promise<string> {
  if (text.trim() === "") return "";
  const stream = new ReadableStream<string>({
    start: (controller) => {
      controller.enqueue(text);
      controller.close();
    },
  });
  let words = "";
  for await (const piece of applyTextTransforms(stream, ["filter_markdown", "filter_emoji"])) words += piece;
  return words.trim();
}

/** Whether the row is the line between column names and rows. */
function isDelimiter(cells: readonly string[]): boolean {
  return cells.every((cell) => DELIMITER.test(cell));
}

function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function toSentence(cells: readonly string[], columns: readonly string[] = []): string {
  const parts = cells.flatMap((cell, index) => (cell ? (columns[index] ? `${columns[index]}: ${cell}` : cell) : []));
  return parts.length === 0 ? "" : `${parts.join(", ")}.\n`;
}
