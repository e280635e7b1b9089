/** Shows nothing, or turns the order of what is shown around. Joiners and emoji variants belong to ordinary words. */
const HIDDEN = /(?!\u200c|\u200d|\ufe0f)[\p{Default_Ignorable_Code_Point}\u007f-\u009f\u2028\u2029]/gu;

/** JSON to read: nothing in it is out of sight, and it parses to the same value. */
export function toExactJson(value: unknown): string {
  return toVisible(JSON.stringify(value, undefined, 2));
}

/** A text in which what cannot be seen is written as in JSON: `\u202e`. */
export function toVisible(text: string): string {
  return text.replaceAll(HIDDEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
