import { Parser } from "htmlparser2";

const HIDDEN: ReadonlySet<string> = new Set(
  "script style noscript template svg math iframe object canvas video audio nav button select textarea dialog".split(
    " ",
  ),
);
const BLOCK: ReadonlySet<string> = new Set(
  (
    "title p div section article main header footer aside h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table tr " +
    "blockquote pre figure figcaption address form fieldset details summary br hr"
  ).split(" "),
);
/**
 * The maximum nesting of elements. The parser searches its stack of open elements at every end tag, so very deep
 * nesting would cost minutes.
 */
const MAX_DEPTH = 1_000;
const SLICE = 8_192;

/** Returns the readable text of a page: one line per paragraph, without markup, scripts or menus. Never throws. */
export function htmlToText(html: string): { readonly text: string; readonly truncated: boolean } {
  const pieces: string[] = [];
  let hidden = 0;
  let depth = 0;
  const parser = new Parser({
    onopentagname(name) {
      depth++;
      if (HIDDEN.has(name)) hidden++;
      if (BLOCK.has(name)) pieces.push(name === "li" ? "\n- " : "\n");
    },
    onclosetag(name) {
      depth--;
      if (HIDDEN.has(name)) hidden--;
      if (BLOCK.has(name)) pieces.push("\n");
      else if (name === "td" || name === "th") pieces.push(" ");
    },
    ontext(text) {
      if (hidden === 0) pieces.push(text.replace(/\s+/g, " "));
    },
  });
  let index = 0;
  for (; index < html.length && depth <= MAX_DEPTH; index += SLICE) parser.write(html.slice(index, index + SLICE));
  const truncated = index < html.length;
  if (!truncated) parser.end();
  return { text: tidy(pieces.join("")), truncated };
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "" && line !== "-").join("\n");
}
