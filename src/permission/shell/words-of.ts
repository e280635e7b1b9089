import type { CommandArgument, Word, WordPart } from "unbash";
import { SEVERAL, UNKNOWN } from "../../lib/glob.ts";

/** Returns a word as the program receives it: without quotes, and with UNKNOWN for whatever the shell inserts. */
export function wordText(word: Word): string {
  return word.parts ? partsText(word.parts) : word.value;
}

export function argumentText(argument: CommandArgument): string {
  if (argument.type === "Word") return wordText(argument);
  const { name, index, append, value } = argument;
  const text = value.type === "Word" ? wordText(value) : UNKNOWN;
  return `${name}${index ? UNKNOWN : ""}${append ? "+" : ""}=${text}`;
}

function partsText(parts: readonly WordPart[]): string {
  return parts.map(partText).join("");
}

function partText(part: WordPart): string {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value;
    case "DoubleQuoted":
    case "LocaleString":
      return partsText(part.parts);
    case "BraceExpansion":
      return SEVERAL;
    default:
      // Variables, substitutions, file name patterns.
      return UNKNOWN;
  }
}
