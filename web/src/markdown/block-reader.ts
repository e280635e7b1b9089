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
    // A reference may be defined anywhere, even after its use, so text with definitions is always parsed as a whole.
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

/** Returns the blocks without the last two: once complete, the last line may continue the previous block. */
function settledOf(blocks: readonly Block[]): readonly Block[] {
  const places = blocks.flatMap(({ token }, place) => (token.type === "space" ? [] : place));
  return blocks.slice(0, places.at(-2) ?? 0);
}

function endOf({ token, at }: Block): number {
  return at + token.raw.length;
}

/** Returns the source as a single block if parsing would take too long. */
function toTokens(text: string): readonly Token[] {
  return isPathological(text) ? [{ type: "text", raw: text, text }] : new Lexer({ gfm: true }).lex(text);
}
