/** What a value is, for people who must not be told the value itself. */
export function kindOf(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? "number" : String(value);
  if (typeof value !== "object") return typeof value;
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Object.getPrototypeOf(value) === Object.prototype ? "object" : value.constructor.name;
}
