interface Stored {
  readonly type: "text" | "tool";
  readonly text?: string;
  readonly toolUseId?: string;
}

interface Seen {
  readonly kind: "text" | "thinking" | "call" | "aside";
  readonly text?: string;
  readonly toolUseId?: string;
}

/**
 * The parts of an answer that only the record has: it had begun before the page was opened, which has `seen` the rest.
 */
export function partsBefore<Part extends Stored>(stored: readonly Part[], seen: readonly Seen[]): readonly Part[] {
  const known = (kind: Seen["kind"]) => seen.filter((part) => part.kind === kind);
  const calls = new Set(known("call").map(({ toolUseId }) => toolUseId));
  const texts = new Set(known("text").map(({ text }) => text));
  // Sentences of a block whose beginning the page has not received.
  const sentences = known("aside").flatMap(({ text }) => text ?? []);
  return stored.flatMap((part) => {
    const { type, text = "", toolUseId } = part;
    if (type === "tool") return calls.has(toolUseId) ? [] : part;
    if (texts.has(text)) return [];
    const places = sentences.map((sentence) => text.indexOf(sentence)).filter((place) => place >= 0);
    const before = text.slice(0, Math.min(text.length, ...places));
    return before.trim() === "" ? [] : { ...part, text: before };
  });
}
