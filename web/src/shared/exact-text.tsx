import type { ReactNode } from "react";
import { toVisible } from "./exact-json.ts";

/** Shows somebody else's text: nothing in it is invisible, and its direction does not reorder what surrounds it. */
export function ExactText({ children }: { readonly children: string }): ReactNode {
  return <bdi>{toVisible(children)}</bdi>;
}
