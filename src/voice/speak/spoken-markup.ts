import { ReadableStream } from "node:stream/web";
import { voice } from "@livekit/agents";

const { applyTextTransforms } = voice.textTransforms;

/** Said in the place of code, by the primary subtag of a BCP 47 tag. */
const CODE: Readonly<Record<string, string>> = {
  de: "Hier steht Code.",
  en: "Here is some code.",
  es: "Aquí hay código.",
  fr: "Voici du code.",
  it: "Ecco del codice.",
  nl: "Hier staat code.",
  pt: "Aqui está o código.",
};

/** What may stand before a code fence or a table in its line: the marks of quotes and list items. */
const BLOCK_MARKS = /^(?:\s*(?:[-*+>]|\p{Nd}{1,9}[.)])\s)*\s*/u;
const FENCE = /^(`{3,}|~{3,})/;
const DELIMITER = /^:?-+:?$/;

/**
 * Turns Markdown into words that can be spoken. It gets a text in pieces that each end where a sentence or a line does.
 * A table is read row by row, each cell after its column's name; of code only a mention is left.
 */
export class SpokenMarkup {
  readonly #code: string;
  /** Of the code that the text is in. */
  #fence: string | undefined;
  /** Column names of the table that the text is in. Undefined until they are known, or where it has none. */
  #columns: readonly string[] | undefined;
  /** The table's first row, until the next line tells whether it has the column names. */
  #first: readonly string[] | undefined;
  #isInRow = false;
  #row = "";
  /** A line that has the column names of a table whose rows begin with no stroke, if the next one tells so. */
  #names: string | undefined;
  /** Whether the rows of the table that the text is in begin with no stroke. */
  #isBare = false;

  constructor(language: string | undefined) {
    this.#code = CODE[language?.split("-", 1)[0]?.toLowerCase() ?? "en"] ?? CODE["en"] ?? "";
  }

  /** Returns what is to be spoken of a piece, which may be nothing. */
  async write(piece: string): Promise<string> {
    return plain(this.#read(piece));
  }

  /** Returns what is still to be spoken at the end of the text. */
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
      // A row may hold several sentences.
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

  /** The line that was held back is no row of column names. */
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
    // It has no column names.
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

/** Removes the other marks of Markdown, and emoji. */
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

/** Whether it is the line between a table's column names and its rows. */
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
