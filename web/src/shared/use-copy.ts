import { useEffect, useState } from "react";
import { useWords } from "./words/words.ts";

const SHOWN_MS = 2_000;

/**
 * Copies text to the clipboard. Returns the label of the button that copies, which briefly says whether that worked,
 * the function that copies, and whether the text has just been copied.
 */
export function useCopy(text: string): readonly [label: string, copy: () => void, isCopied: boolean] {
  const words = useWords();
  const [said, setSaid] = useState<"copied" | "copyFailed">();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      // Browsers offer the clipboard only in secure contexts.
      await navigator.clipboard.writeText(text);
      setSaid("copied");
    } catch {
      setSaid("copyFailed");
    }
  };
  return [words[said ?? "copy"], () => void copy(), said === "copied"];
}
