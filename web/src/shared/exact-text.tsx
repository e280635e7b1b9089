import type { ReactNode } from "react";
import { toVisible } from "./exact-json.ts";

/** Shows untrusted text. Nothing in it is invisible, and its direction does not reorder the text around it. */
export function ExactText({ children }: { readonly children: string }): ReactNode {
  return <bdi>{toVisible(children)}</bdi>;
}
