/** Matches more nested lists and quotes than any answer needs. */
const NESTED = /^[ \t]*(?:(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])[ \t]*){13}/mu;
/** Matches a list that is nested too deeply by its indentation: each level adds two spaces. */
const INDENTED = /^[ \t]{60}[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])/mu;
const LONG_WORD = /\S{2000}/u;
const MARKS = /[*_~[`<]/gu;
/** The maximum number of marks in one paragraph. marked compares each mark with every other. */
const MAX_MARKS = 800;

/**
 * Whether parsing this text as Markdown could block the page. marked takes seconds for thousands of unmatched marks,
 * and overflows the stack with thousands of nested quotes.
 */
export function isPathological(text: string): boolean {
  if (NESTED.test(text) || INDENTED.test(text) || LONG_WORD.test(text)) return true;
  return text.split(/\n[ \t]*\n/u).some((paragraph) => (paragraph.match(MARKS)?.length ?? 0) > MAX_MARKS);
}
