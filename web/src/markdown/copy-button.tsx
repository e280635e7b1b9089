import type { ReactNode } from "react";
import { useCopy } from "../shared/use-copy.ts";

export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [label, copy] = useCopy(text);
  return (
    <button type="button" className="quiet" onClick={copy}>
      {label}
    </button>
  );
}
