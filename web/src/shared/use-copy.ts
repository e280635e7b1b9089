import { useEffect, useState } from "react";

const SHOWN_MS = 2_000;

/**
 * Copies text to the clipboard. Returns the label of the button that copies, which briefly says whether that worked,
 * and the function that copies.
 */
export function useCopy(text: string): readonly [label: string, copy: () => void] {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      // Browsers offer the clipboard only in secure contexts.
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("Copy failed");
    }
  };
  return [said ?? "Copy", () => void copy()];
}
