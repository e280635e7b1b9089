/** Characters that are invisible or reverse the order of text; not joiners and emoji variants, which words need. */
const HIDDEN = /(?!\u200c|\u200d|\ufe0f)[\p{Default_Ignorable_Code_Point}\u007f-\u009f\u2028\u2029]/gu;

/** JSON for people: nothing in it is invisible, and it parses to the same value. */
export function toExactJson(value: unknown): string {
  return toVisible(JSON.stringify(value, undefined, 2));
}

/** A text in which invisible characters are written as in JSON: `\u202e`. */
export function toVisible(text: string): string {
  return text.replaceAll(HIDDEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
