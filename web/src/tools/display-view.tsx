import type { ToolCall } from "@parley/react";
import type { ReactNode } from "react";
import { toVisible } from "../shared/exact-json.ts";

/** Shows a tool's `display` if its fields are ones that this page supports: `{title?, src?, text?}`. */
export function DisplayView({ display }: { readonly display: NonNullable<ToolCall["display"]> }): ReactNode {
  const { title, src, text } = display;
  // Only pictures that the result itself contains are shown: this page does not load pictures from elsewhere.
  const picture = typeof src === "string" && src.startsWith("data:image/") ? src : undefined;
  const words = typeof text === "string" ? text : undefined;
  if (picture === undefined && words === undefined) return null;
  const name = typeof title === "string" ? toVisible(title) : "";
  return (
    <figure className="display">
      {name !== "" && <figcaption dir="auto">{name}</figcaption>}
      {picture !== undefined && <img src={picture} alt={name} />}
      {words !== undefined && (
        <p className="text" dir="auto">
          {toVisible(words)}
        </p>
      )}
    </figure>
  );
}
