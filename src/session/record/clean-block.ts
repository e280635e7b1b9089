import type { TurnBlock } from "../../conversation/block.ts";
import { cleanJson, cleanText } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";

/** Makes a block storable. */
export function cleanBlock(block: TurnBlock): TurnBlock {
  const { textContent, content, original } = block;
  return {
    ...block,
    textContent: textContent === null ? null : (cleanJson(textContent) as string),
    content: content && (cleanJson(content) as JsonObject),
    ...(original !== undefined && { original: cleanText(original) }),
  };
}
