/** More lists and quotations inside one another than any answer needs. */
const NESTED = /^[ \t]*(?:(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])[ \t]*){13}/mu;
/** Two spaces more for each list inside another. */
const INDENTED = /^[ \t]{60}[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])/mu;
const LONG_WORD = /\S{2000}/u;
const MARKS = /[*_~[`<]/gu;
/** In one paragraph. marked compares each mark with each. */
const MAX_MARKS = 800;

/**
 * Whether reading a text as Markdown could block the page: marked needs seconds for thousands of marks that close
 * nothing, and overflows the stack with thousands of quotations inside one another.
 */
export function isPathological(text: string): boolean {
  if (NESTED.test(text) || INDENTED.test(text) || LONG_WORD.test(text)) return true;
  return text.split(/\n[ \t]*\n/u).some((paragraph) => (paragraph.match(MARKS)?.length ?? 0) > MAX_MARKS);
}
