import { isRecord, type JsonObject, type JsonValue } from "../lib/json.ts";

/** The Messages API refuses a whole request for one property name that does not match. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Keywords that the API refuses at the root of a schema. */
export const NOT_AT_ROOT = ["oneOf", "anyOf", "allOf"] as const;
const MAX_TEXT_LENGTH = 1_000;

/** What kind of value a keyword takes. */
type Kind = "value" | "text" | "example" | "pattern" | "reference" | "schema" | "schemas" | "properties" | "map";

/** The keywords that the model is shown. It has no use for others, or the API understands them differently. */
const KEYWORDS: Readonly<Record<Kind, string>> = {
  value:
    "type enum const default format required minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength " +
    "maxLength minItems maxItems uniqueItems minProperties maxProperties minContains maxContains dependentRequired " +
    "deprecated readOnly writeOnly contentEncoding contentMediaType",
  text: "description title",
  example: "examples",
  pattern: "pattern",
  reference: "$ref",
  schema:
    "items additionalItems additionalProperties propertyNames contains not if then else unevaluatedItems " +
    "unevaluatedProperties contentSchema",
  schemas: "prefixItems anyOf oneOf allOf",
  properties: "properties",
  map: "patternProperties dependentSchemas $defs definitions",
};
const KIND_OF: ReadonlyMap<string, Kind> = new Map(
  Object.entries(KEYWORDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind as Kind] as const)),
);

/** Turns a text of the schema into a quotation of its author. */
export type Attribute = (text: string) => string;

/**
 * Somebody else's schema in the form that the model is shown: as far as we can tell, nothing in it makes the API refuse
 * the request. With `attribute`, no text in it reads as the worker's own.
 *
 * @throws {TypeError} naming the field that the API would not take
 */
export function toModelSchema(schema: JsonObject, attribute?: Attribute): JsonObject {
  if (schema["type"] !== "object") throw new TypeError('the input schema\'s root must have type "object"');
  const forbidden = NOT_AT_ROOT.find((word) => Object.hasOwn(schema, word));
  if (forbidden !== undefined)
    throw new TypeError(`its schema has "${forbidden}" at the root, where the model's API takes none`);
  return new Shown(schema, attribute).schema(schema, "") as JsonObject;
}

class Shown {
  readonly #root: JsonObject;
  readonly #attribute: Attribute | undefined;

  constructor(root: JsonObject, attribute: Attribute | undefined) {
    this.#root = root;
    this.#attribute = attribute;
  }

  schema(schema: JsonValue, path: string): JsonValue {
    if (!isRecord(schema)) return schema;
    const shown = Object.entries(schema as JsonObject).map(([word, operand]) => {
      const kind = KIND_OF.get(word);
      return [word, kind && this.#operand(kind, operand, path === "" ? word : `${path}.${word}`)] as const;
    });
    return Object.fromEntries(shown.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
  }

  #operand(kind: Kind, operand: JsonValue, path: string): JsonValue | undefined {
    switch (kind) {
      case "value":
        return operand;
      case "text":
        return typeof operand === "string" ? this.#text(operand) : undefined;
      case "example":
        return this.#attribute ? undefined : operand;
      case "pattern":
        return typeof operand === "string" && isRegExp(operand) ? operand : undefined;
      case "reference":
        return typeof operand === "string" && isInside(operand, this.#root) ? operand : undefined;
      case "schema":
        return Array.isArray(operand) ? this.#list(operand, path) : this.schema(operand, path);
      case "schemas":
        return this.#list(operand, path);
      case "map":
        return this.#map(operand, path);
      case "properties":
        for (const name of isRecord(operand) ? Object.keys(operand) : [])
          if (!PROPERTY_NAME.test(name)) throw new TypeError(badName(name, path));
        return this.#map(operand, path);
    }
  }

  #text(text: string): string {
    const { length } = text;
    const cut = length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text;
    return this.#attribute ? this.#attribute(cut) : text;
  }

  #list(list: JsonValue, path: string): JsonValue {
    if (!Array.isArray(list)) return list;
    return (list as readonly JsonValue[]).map((item, index) => this.schema(item, `${path}.${index}`));
  }

  #map(map: JsonValue, path: string): JsonValue {
    if (!isRecord(map)) return map;
    const entries = Object.entries(map as JsonObject);
    return Object.fromEntries(entries.map(([name, item]) => [name, this.schema(item, `${path}.${name}`)]));
  }
}

function badName(name: string, path: string): string {
  const shown = JSON.stringify(name.slice(0, 100));
  return `its parameter ${shown} (in ${path.slice(0, 200)}) does not match ${PROPERTY_NAME.source}`;
}

/** Whether a reference leads to a place in the schema itself. */
function isInside(ref: string, root: JsonObject): boolean {
  if (ref !== "#" && !ref.startsWith("#/")) return false;
  let place: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isRecord(place) || !Object.hasOwn(place, key)) return false;
    place = place[key];
  }
  return isRecord(place);
}

/** Compiling an expression is quick, even if running it would not be. */
function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
