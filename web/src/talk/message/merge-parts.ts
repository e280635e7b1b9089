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
 * Merges the parts of an answer that started before the page was opened. Parts known only from the record are taken
 * from `stored`. The parts that the page received itself, in `seen`, are newer and replace stored parts.
 */
export function mergeParts<S extends Stored, P extends Seen>(
  stored: readonly S[],
  seen: readonly P[],
): readonly (S | P)[] {
  const left = new Set(seen);
  const take = (isWanted: (part: P) => boolean): readonly P[] => {
    const taken = [...left].filter(isWanted);
    for (const part of taken) left.delete(part);
    return taken;
  };
  const merged = stored.flatMap((part): readonly (S | P)[] => {
    const { type, text = "", toolUseId } = part;
    const same = take((each) =>
      type === "tool" ? each.toolUseId === toolUseId : each.kind === "text" && each.text === text,
    );
    if (type === "tool" || same.length > 0) return same.length > 0 ? same : [part];
    // If the page has not received the beginning of a block, the block's sentences have arrived as asides.
    const sentences = take(({ kind, text: said = "" }) => kind === "aside" && text.includes(said));
    const [first = ""] = sentences.map((sentence) => sentence.text ?? "");
    const before = sentences.length === 0 ? text : text.slice(0, text.indexOf(first));
    return before.trim() === "" ? sentences : [{ ...part, text: before }, ...sentences];
  });
  return [...merged, ...left];
}
