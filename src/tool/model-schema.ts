import { isRecord, type JsonObject, type JsonValue } from "../lib/json.ts";

/**
 * Matches a property name that the Messages API accepts. The API rejects a whole request if one name does not match.
 */
export const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Keywords that the API rejects at the root of a schema. */
export const NOT_AT_ROOT = ["oneOf", "anyOf", "allOf"] as const;
const MAX_TEXT_LENGTH = 1_000;

/**
 * Matches a key that is not a property name: a name in `$defs`, or a regular expression. Whitespace is not allowed, so
 * a key cannot be a sentence.
 */
const KEY = /^\S{1,200}$/;
const TYPES: readonly unknown[] = "string number integer boolean array object null".split(" ");
const FORMATS: readonly unknown[] = (
  "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference " +
  "uri-template uuid json-pointer relative-json-pointer regex"
).split(" ");

/**
 * The keywords that the model sees, grouped by the kind of their value. Others are omitted, because the model does not
 * need them or the API interprets them differently. `exact` values stay unchanged, because the model has to write them
 * itself.
 */
const KEYWORDS = {
  exact: "enum const default",
  boolean: "uniqueItems deprecated readOnly writeOnly",
  number:
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties " +
    "maxProperties minContains maxContains",
  type: "type",
  format: "format",
  names: "required",
  namesByName: "dependentRequired",
  text: "description title",
  example: "examples",
  pattern: "pattern",
  reference: "$ref",
  schema:
    "items additionalItems additionalProperties propertyNames contains not if then else unevaluatedItems " +
    "unevaluatedProperties",
  schemas: "prefixItems anyOf oneOf allOf",
  properties: "properties",
  definitions: "$defs definitions",
  byName: "dependentSchemas",
  byPattern: "patternProperties",
} as const;
type Kind = keyof typeof KEYWORDS;
const KIND_OF: ReadonlyMap<string, Kind> = new Map(
  Object.entries(KEYWORDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind as Kind] as const)),
);

/** Marks a text in a schema as a quotation of the schema's author. */
export type Attribute = (text: string) => string;

/**
 * Returns a schema from a participant or an MCP server in the form that the model sees. As far as we know, the API
 * accepts every schema in this form. With `attribute`, no text in the schema can be mistaken for the worker's own.
 *
 * @throws {TypeError} naming the field that the API would reject
 */
export function toModelSchema(schema: JsonObject, attribute?: Attribute): JsonObject {
  if (schema["type"] !== "object") throw new TypeError('the input schema\'s root must have type "object"');
  const forbidden = NOT_AT_ROOT.find((word) => Object.hasOwn(schema, word));
  if (forbidden !== undefined)
    throw new TypeError(`its schema has "${forbidden}" at the root, which the model API does not accept`);
  return new Shown(schema, attribute).schema(schema, "") as JsonObject;
}

class Shown {
  readonly #root: JsonObject;
  readonly #attribute: Attribute | undefined;

  constructor(root: JsonObject, attribute: Attribute | undefined) {
    this.#root = root;
    this.#attribute = attribute;
  }

  /**
   * Returns a schema, or a schema within it, as the model sees it. Returns `undefined` for anything that is not a
   * schema.
   */
  schema(schema: JsonValue, path: string): JsonValue | undefined {
    if (typeof schema === "boolean") return schema;
    if (!isRecord(schema)) return undefined;
    const shown = Object.entries(schema as JsonObject).map(([word, operand]) => {
      const kind = KIND_OF.get(word);
      return [word, kind && this.#operand(kind, operand, path === "" ? word : `${path}.${word}`)] as const;
    });
    return Object.fromEntries(shown.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
  }

  #operand(kind: Kind, operand: JsonValue, path: string): JsonValue | undefined {
    switch (kind) {
      case "exact":
        return operand;
      case "boolean":
      case "number":
        return typeof operand === kind ? operand : undefined;
      case "type":
        return listOf(operand).every((type) => TYPES.includes(type)) ? operand : undefined;
      case "format":
        return FORMATS.includes(operand) ? operand : undefined;
      case "names":
        return names(operand);
      case "namesByName":
        return mapped(operand, PROPERTY_NAME, names);
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
      case "properties":
        return this.#named(operand, PROPERTY_NAME, { what: "parameter", path });
      // References point to definitions, so omitting a definition would break them.
      case "definitions":
        return this.#named(operand, KEY, { what: "definition", path });
      case "byName":
        return this.#schemas(operand, PROPERTY_NAME, path);
      case "byPattern":
        return this.#schemas(operand, KEY, path);
    }
  }

  #text(text: string): string {
    const { length } = text;
    const cut = length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text;
    return this.#attribute ? this.#attribute(cut) : text;
  }

  #list(list: JsonValue, path: string): JsonValue | undefined {
    if (!Array.isArray(list)) return undefined;
    const shown = (list as readonly JsonValue[]).map((item, index) => this.schema(item, `${path}.${index}`));
    return shown.filter((item) => item !== undefined);
  }

  #named(map: JsonValue, pattern: RegExp, { what, path }: { what: string; path: string }): JsonValue | undefined {
    const bad = isRecord(map) ? Object.keys(map).find((name) => !pattern.test(name)) : undefined;
    if (bad !== undefined) throw new TypeError(badName(bad, { what, path, pattern }));
    return this.#schemas(map, pattern, path);
  }

  #schemas(map: JsonValue, pattern: RegExp, path: string): JsonValue | undefined {
    return mapped(map, pattern, (item, name) => this.schema(item, `${path}.${name}`));
  }
}

/** Returns the map without entries whose name does not match or whose value is dropped. */
function mapped(
  map: JsonValue,
  pattern: RegExp,
  toShown: (item: JsonValue, name: string) => JsonValue | undefined,
): JsonValue | undefined {
  if (!isRecord(map)) return undefined;
  const entries = Object.entries(map as JsonObject).filter(([name]) => pattern.test(name));
  const shown = entries.map(([name, item]) => [name, toShown(item, name)] as const);
  return Object.fromEntries(shown.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
}

/** Returns only valid property names. Other text has no meaning here, but the model would read it. */
function names(list: JsonValue): JsonValue | undefined {
  if (!Array.isArray(list)) return undefined;
  return (list as readonly JsonValue[]).filter((name) => typeof name === "string" && PROPERTY_NAME.test(name));
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
}

function badName(name: string, { what, path, pattern }: { what: string; path: string; pattern: RegExp }): string {
  const shown = JSON.stringify(name.slice(0, 100));
  return `its ${what} ${shown} (in ${path.slice(0, 200)}) does not match ${pattern.source}`;
}

/** Whether a reference points to a place in the schema itself. */
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

/**
 * Whether the pattern is a valid regular expression. Only compiles it, which is fast even if running it would not be.
 */
function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
