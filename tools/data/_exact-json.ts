const MAX_NUMBER_LENGTH = 40;

/** Parses a JSON object. A number that a double cannot represent (bigint, numeric) becomes a string of its digits. */
export function exactJson(text: string): Record<string, unknown> {
  const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const source = context?.source;
    return typeof value !== "number" || source === undefined || isSame(value, source) ? value : source;
  };
  return JSON.parse(text, exact) as Record<string, unknown>;
}

function isSame(value: number, source: string): boolean {
  return source.length <= MAX_NUMBER_LENGTH && digits(String(value)) === digits(source);
}

function digits(number: string): string {
  return number
    .replace(/[eE].*$/, "")
    .replace(/\D/g, "")
    .replace(/^0+|0+$/g, "");
}
