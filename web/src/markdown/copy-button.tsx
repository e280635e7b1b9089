import { type ReactNode, useEffect, useState } from "react";

const SHOWN_MS = 2_000;

/** Copies text to the clipboard and shows whether that worked. */
export function CopyButton({ text }: { readonly text: string }): ReactNode {
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
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {said ?? "Copy"}
    </button>
  );
}
