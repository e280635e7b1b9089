/** A field that should be a text; anything else reads as none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
