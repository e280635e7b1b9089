import type { MarkedToken, Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode, useState } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { BlockReader } from "./block-reader.ts";
import { CopyButton } from "./copy-button.tsx";
import { ReadMarks, type SaidSoFar } from "./unplayed-text.tsx";
import { toSafeLink } from "./safe-link.ts";
import { useWords, type Words } from "../shared/words/words.ts";

/** The maximum nesting of lists, quotes and emphasis. Anything deeper is shown as source. */
const MAX_DEPTH = 24;
const ALL_SAID: SaidSoFar = { saidTo: Infinity, rest: "ahead" };
/** The page's title is the only `h1`. */
const HEADINGS = ["h2", "h2", "h3", "h4", "h5", "h6"] as const;
/** Character references that marked does not decode, because it expects its tokens to be rendered as HTML. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: "\u00a0",
};

interface MarkdownProps {
  readonly text: string;
  /** @defaultValue the whole text was said */
  readonly said?: SaidSoFar;
  /** @defaultValue "text" */
  readonly className?: string;
}

/**
 * Renders the model's text as Markdown. Creates React elements, never HTML, and fetches nothing: a picture is shown as
 * a link. A block re-renders only when it changes.
 */
export function Markdown({ text, said = ALL_SAID, className = "text" }: MarkdownProps): ReactNode {
  const [reader] = useState(() => new BlockReader());
  return (
    <div className={`${className} markdown`}>
      {reader.read(text).map(({ token, at }) => {
        const saidTo = said.saidTo >= at + token.raw.length ? Infinity : Math.max(0, said.saidTo - at);
        return <Block key={at} token={token} saidTo={saidTo} rest={said.rest} />;
      })}
    </div>
  );
}

interface BlockProps extends SaidSoFar {
  readonly token: Token;
}

const Block = memo(function Block({ token, ...said }: BlockProps): ReactNode {
  const words = useWords();
  const view = new TokenView(token.raw, said, words).view([token], 0);
  // This is text outside a paragraph, such as HTML, which is shown as source.
  return token.type === "text" || token.type === "html" ? <p dir="auto">{view}</p> : view;
});

/** Renders the tokens of one block. */
class TokenView {
  readonly #marks: ReadMarks;
  readonly #labels: Words["message"];
  readonly #colon: string;

  constructor(source: string, said: SaidSoFar, { message, colon }: Words) {
    this.#marks = new ReadMarks(source, said, message.notHeard);
    this.#labels = message;
    this.#colon = colon;
  }

  view(tokens: readonly Token[], depth: number): ReactNode {
    return tokens.map((token, index) => <Fragment key={index}>{this.#one(token as MarkedToken, depth)}</Fragment>);
  }

  #one(token: MarkedToken, depth: number): ReactNode {
    if (depth > MAX_DEPTH) return this.#words(token.raw);
    const dir = directionAt(depth);
    const inside = () => ("tokens" in token && token.tokens ? this.view(token.tokens, depth + 1) : null);
    switch (token.type) {
      case "space":
      case "def":
        return null;
      case "paragraph":
        return <p dir={dir}>{inside()}</p>;
      case "heading": {
        const Heading = HEADINGS[token.depth - 1] ?? "h6";
        return <Heading dir={dir}>{inside()}</Heading>;
      }
      case "blockquote":
        return <blockquote dir={dir}>{inside()}</blockquote>;
      case "hr":
        return <hr />;
      case "list":
        return this.#list(token, depth);
      case "table":
        return this.#table(token, depth);
      case "code":
        return this.#code(token);
      case "strong":
        return <strong>{inside()}</strong>;
      case "em":
        return <em>{inside()}</em>;
      case "del":
        return <del>{inside()}</del>;
      case "codespan":
        return <code>{this.#words(token.text)}</code>;
      case "br":
        return <br />;
      case "checkbox":
        return token.checked ? "☑ " : "☐ ";
      case "link":
        return this.#link(token, depth);
      case "image":
        return this.#picture(token);
      case "escape":
        return this.#words(token.text);
      case "text":
        return token.tokens ? inside() : this.#words(decodeEntities(token.text));
      default:
        // HTML is shown as source, except for line breaks, which table cells need.
        return /^<br\s*\/?>$/iu.test(token.raw.trim()) ? <br /> : this.#words(token.raw);
    }
  }

  #words(words: string): ReactNode {
    return this.#marks.mark(words);
  }

  #list({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
    const rows = items.map((item, index) => <li key={index}>{this.view(item.tokens, depth + 1)}</li>);
    // `dir` puts the list markers on the side where its lines start.
    const dir = directionAt(depth);
    if (!ordered) return <ul dir={dir}>{rows}</ul>;
    return (
      <ol start={start === "" ? 1 : start} dir={dir}>
        {rows}
      </ol>
    );
  }

  #table({ header, rows }: Tokens.Table, depth: number): ReactNode {
    const cells = (row: readonly Tokens.TableCell[], Cell: "th" | "td") =>
      row.map(({ tokens, align }, index) => (
        <Cell key={index} data-align={align ?? undefined} {...(Cell === "th" && { scope: "col" })}>
          {this.view(tokens, depth + 1)}
        </Cell>
      ));
    return (
      <div className="table" role="group" aria-label={this.#labels.table} tabIndex={0}>
        <table dir={directionAt(depth)}>
          <thead>
            <tr>{cells(header, "th")}</tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>{cells(row, "td")}</tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  }

  #code({ text, lang = "" }: Tokens.Code): ReactNode {
    return (
      <div className="code" dir="ltr">
        <p className="code-head">
          <span>{lang.slice(0, 20)}</span>
          <CopyButton text={text} />
        </p>
        <pre tabIndex={0} aria-label={this.#labels.code}>
          <code>{this.#words(text)}</code>
        </pre>
      </div>
    );
  }

  #link({ href, raw, text, tokens }: Tokens.Link, depth: number): ReactNode {
    const link = toSafeLink(href);
    if (!link) return this.#words(raw);
    const words = this.view(tokens, depth + 1);
    // A link whose text is its URL already shows its host.
    const isWhole = text === href && text.includes(link.host) && new URL(link.href).username === "";
    const isNamed = text === link.host || isWhole;
    return <SafeLink {...link} words={words} isNamed={isNamed} />;
  }

  #picture({ href, raw, text }: Tokens.Image): ReactNode {
    const link = toSafeLink(href);
    if (!link) return this.#words(raw);
    const { picture } = this.#labels;
    const words =
      text === "" ? (
        picture
      ) : (
        <>
          {picture}
          {this.#colon}
          {this.#words(text)}
        </>
      );
    return <SafeLink {...link} words={words} isNamed={false} />;
  }
}

interface SafeLinkProps {
  readonly href: string;
  readonly host: string;
  readonly words: ReactNode;
  readonly isNamed: boolean;
}

/** Opens in a new tab, because leaving this page would leave the session. */
function SafeLink({ href, host, words, isNamed }: SafeLinkProps): ReactNode {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{words}</bdi>
      {!isNamed && <small className="host"> ({toVisible(host)})</small>}
    </a>
  );
}

/** Nested blocks inherit the direction of the outer block, because `auto` skips elements that have their own `dir`. */
function directionAt(depth: number): "auto" | undefined {
  return depth === 0 ? "auto" : undefined;
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/gu, (whole, name: string) => ENTITIES[name] ?? whole);
}
