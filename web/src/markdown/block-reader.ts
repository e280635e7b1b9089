import { Lexer, type Token } from "marked";
import { isPathological } from "./pathological.ts";

/** A block of Markdown, such as a paragraph or a table, and its start position in the source. */
export interface Block {
  readonly token: Token;
  readonly at: number;
}

/**
 * Parses a growing text as Markdown. Blocks that cannot change as the text grows are parsed only once, and stay the
 * same objects.
 */
export class BlockReader {
  #text = "";
  #blocks: readonly Block[] = [];

  read(source: string): readonly Block[] {
    // marked drops carriage returns, which would make the positions of its tokens wrong.
    const text = source.replaceAll("\r", " ");
    if (text === this.#text) return this.#blocks;
    const blocks = this.#readFrom(text, text.startsWith(this.#text) ? settledOf(this.#blocks) : []);
    // A definition may come anywhere, even after the reference that uses it. So text with definitions is always parsed
    // as a whole.
    const hasReferences = blocks.some(({ token }) => token.type === "def");
    this.#text = text;
    return (this.#blocks = hasReferences ? this.#readFrom(text, []) : blocks);
  }

  #readFrom(text: string, kept: readonly Block[]): readonly Block[] {
    const last = kept.at(-1);
    let at = last ? endOf(last) : 0;
    const read = toTokens(text.slice(at)).map((token) => {
      const block = { token, at };
      at = endOf(block);
      return block;
    });
    return [...kept, ...read];
  }
}

/**
 * Returns the blocks that can no longer change. The last two still can: the last line, once complete, may turn out to
 * continue the block before it.
 */
function settledOf(blocks: readonly Block[]): readonly Block[] {
  const places = blocks.flatMap(({ token }, place) => (token.type === "space" ? [] : place));
  return blocks.slice(0, places.at(-2) ?? 0);
}

function endOf({ token, at }: Block): number {
  return at + token.raw.length;
}

/** Returns the tokens of a text. A text that would take too long to parse becomes a single token. */
function toTokens(text: string): readonly Token[] {
  return isPathological(text) ? [{ type: "text", raw: text, text }] : new Lexer({ gfm: true }).lex(text);
}
