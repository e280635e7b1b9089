import { check, expect, type Keyword, keysOf, ok, type Schema, type Steps, unchecked } from "./json-schema-check.ts";
import { isRecord } from "../json.ts";

const MAX_SHOWN_LENGTH = 500;

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

const number =
  (holds: (value: number, limit: number) => boolean, words: string): Keyword =>
  (limit: unknown) => {
    expect(typeof limit === "number", "a numeric limit");
    return check(
      (value) => typeof value !== "number" || holds(value, Number(limit)),
      `expected ${words} ${Number(limit)}`,
    );
  };
const count =
  (size: (value: unknown, steps: Steps) => number | undefined, isMost: boolean, unit: string): Keyword =>
  (limit: unknown) => {
    expect(Number.isInteger(limit) && Number(limit) >= 0, `a number of ${unit}`);
    const fits = (length: number) => (isMost ? length <= Number(limit) : length >= Number(limit));
    const words = `expected at ${isMost ? "most" : "least"} ${Number(limit)} ${unit}`;
    return check((value, steps) => fits(size(value, steps) ?? Number(limit)), words);
  };
/** Returns the length in code points: a surrogate pair counts as one. */
function lengthOf(value: unknown, steps: Steps): number | undefined {
  if (typeof value !== "string") return undefined;
  steps.spend(value.length >> 6);
  let length = 0;
  for (let index = 0; index < value.length; index++, length++) if ((value.codePointAt(index) ?? 0) > 0xff_ff) index++;
  return length;
}
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined);
const sizeOf = (value: unknown, steps: Steps) => (isRecord(value) ? keysOf(value, steps).length : undefined);

/** Keywords about the value itself. */
export const VALUE_KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (type: unknown) => {
    const types = [...new Set([type].flat())];
    const odd = types.find((name) => typeof name !== "string" || !Object.hasOwn(TYPES, name));
    if (odd !== undefined) throw new TypeError(`its type ${JSON.stringify(odd)} is not a JSON Schema type`);
    return check((value) => types.some((name) => TYPES[String(name)]?.(value)), `expected ${types.join(" or ")}`);
  },
  enum: (values: unknown) => {
    if (!Array.isArray(values)) throw new TypeError('its schema is invalid: expected "enum" to be a list');
    const shown = values.map((value) => JSON.stringify(value)).join(", ");
    return check(
      (value, steps) => values.some((allowed) => isEqual(allowed, value, steps)),
      `expected one of ${cut(shown)}`,
    );
  },
  const: (constant: unknown) =>
    check((value, steps) => isEqual(constant, value, steps), `expected ${cut(JSON.stringify(constant))}`),
  minimum: number((value, limit) => value >= limit, "a number from"),
  maximum: number((value, limit) => value <= limit, "a number up to"),
  exclusiveMinimum: number((value, limit) => value > limit, "a number above"),
  exclusiveMaximum: number((value, limit) => value < limit, "a number below"),
  multipleOf: (factor: unknown) => {
    const limit = Number(factor);
    expect(typeof factor === "number" && limit > 0, '"multipleOf" to be a number above 0');
    const isMultiple = (value: number) => Math.abs(value / limit - Math.round(value / limit)) < 1e-9;
    return check((value) => typeof value !== "number" || isMultiple(value), `expected a multiple of ${limit}`);
  },
  minLength: count(lengthOf, false, "characters"),
  maxLength: count(lengthOf, true, "characters"),
  minItems: count(itemsOf, false, "items"),
  maxItems: count(itemsOf, true, "items"),
  minProperties: count(sizeOf, false, "entries"),
  maxProperties: count(sizeOf, true, "entries"),
  pattern: (source: unknown, _schema, compiler) => {
    expect(typeof source === "string", '"pattern" to be a string');
    if (compiler.isForeign) return unchecked(compiler);
    const pattern = new RegExp(String(source), "u");
    return check(
      (value) => typeof value !== "string" || pattern.test(value),
      `expected a string that matches ${pattern.source}`,
    );
  },
  uniqueItems: (isUnique: unknown) => {
    if (isUnique !== true) return ok;
    const isFirst = (items: readonly unknown[], index: number, steps: Steps) =>
      items.findIndex((other) => isEqual(items[index], other, steps)) === index;
    return check(
      (value, steps) => !Array.isArray(value) || value.every((_, index) => isFirst(value, index, steps)),
      "expected items without duplicates",
    );
  },
};

function cut(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

function isEqual(one: unknown, other: unknown, steps: Steps): boolean {
  steps.spend();
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = keysOf(one, steps);
  return (
    keys.length === keysOf(other, steps).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual((one as Schema)[key], (other as Schema)[key], steps))
  );
}
