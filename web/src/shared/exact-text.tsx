import type { ReactNode } from "react";
import { toVisible } from "./exact-json.ts";

/**
 * Shows untrusted text. Makes invisible characters visible, and keeps the text's direction from reordering the text
 * around it.
 */
export function ExactText({ children }: { readonly children: string }): ReactNode {
  return <bdi>{toVisible(children)}</bdi>;
}
