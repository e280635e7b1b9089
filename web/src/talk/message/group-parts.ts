import type { Part, TranscriptPart } from "@parley/react";
import type { CallPart } from "../../tools/call-fold.tsx";

export type TextPart = Exclude<Part | TranscriptPart, CallPart>;

/** Parts of an answer that are shown together: one text, or all calls between two texts. */
export type Shown =
  | { readonly key: string; readonly text: TextPart }
  | { readonly key: string; readonly calls: readonly CallPart[] };

/** Groups an answer's calls that follow one another. Empty texts, which are not shown, do not separate them. */
export function groupParts(parts: readonly (Part | TranscriptPart)[]): readonly Shown[] {
  const shown: Shown[] = [];
  for (const [index, part] of parts.entries()) {
    const last = shown.at(-1);
    if (!isCall(part)) {
      if (part.text.trim() !== "") shown.push({ key: `${index}`, text: part });
    } else if (last && "calls" in last) shown.splice(-1, 1, { key: last.key, calls: [...last.calls, part] });
    else shown.push({ key: `calls ${part.toolUseId ?? index}`, calls: [part] });
  }
  return shown;
}

function isCall(part: Part | TranscriptPart): part is CallPart {
  return "kind" in part ? part.kind === "call" : part.type === "tool";
}

/** Returns a message as it was written, without its calls and the worker's own words. */
export function writtenText(parts: readonly (Part | TranscriptPart)[]): string {
  const texts = parts.flatMap((part) => {
    const isText = "kind" in part ? part.kind === "text" : part.type === "text";
    return isText && !isCall(part) && part.text.trim() !== "" ? part.text : [];
  });
  return texts.join("\n\n");
}
