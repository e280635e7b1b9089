/** Characters that are invisible or reorder text, except joiners and emoji variation selectors, which words need. */
const HIDDEN = /(?!\u200c|\u200d|\ufe0f)[\p{Default_Ignorable_Code_Point}\u007f-\u009f\u2028\u2029]/gu;

/** Returns JSON for people, which contains no invisible characters and parses to the same value. */
export function toExactJson(value: unknown): string {
  return toVisible(JSON.stringify(value, undefined, 2));
}

/** Writes invisible characters as JSON escapes: `\u202e`. */
export function toVisible(text: string): string {
  return text.replaceAll(HIDDEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
