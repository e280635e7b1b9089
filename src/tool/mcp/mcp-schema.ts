import { readJson } from "../../lib/clean-json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../lib/json.ts";
import { type InputSchema, compileForeignSchema } from "../input-schema.ts";
import { NOT_AT_ROOT, PROPERTY_NAME, toModelSchema } from "../model-schema.ts";

const MAX_SCHEMA_LENGTH = 32_768;
/** The maximum number of schemas that are folded into a root, including nested ones, as in a union of intersections. */
const MAX_FOLDED = 64;

/**
 * Compiles a server's schema. The model sees nearly all of it. We check only keywords that are valid JSON Schema and
 * cheap to check, and leave the others to the server, because the operator cannot change the server's schemas.
 *
 * @throws {TypeError} saying why the schema cannot be used
 */
export function compileMcpSchema(schema: unknown): InputSchema {
  const read = readJson(schema ?? {}, "its schema");
  if ("fault" in read) throw new TypeError(read.fault);
  if (!isRecord(read.value)) throw new TypeError("its schema is not an object");
  // The protocol requires arguments to be an object, so a missing or different type is replaced.
  const whole: JsonObject = { ...(read.value as JsonObject), type: "object" };
  const { length } = JSON.stringify(whole);
  if (length > MAX_SCHEMA_LENGTH) throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  const shown = withoutUnnameable(folded(whole)) as JsonObject;
  return compileForeignSchema(whole, toModelSchema(shown), { isLenient: true });
}

/**
 * Folds unions and intersections, which the API rejects at a root, into the root's properties as far as that is
 * accurate. The properties of an alternative are optional, unless every alternative requires them. Calls are still
 * checked against the original schema.
 */
function folded(root: JsonObject): JsonObject {
  const { properties, required } = new Folding(root).of(root);
  const atRoot = new Set<string>([...NOT_AT_ROOT, "properties", "required"]);
  const rest = Object.fromEntries(Object.entries(root).filter(([word]) => !atRoot.has(word)));
  return {
    ...rest,
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.size > 0 && { required: [...required] }),
  };
}

interface Parameters {
  readonly properties: Map<string, JsonValue>;
  readonly required: Set<string>;
}

class Folding {
  readonly #root: JsonObject;
  #remaining = MAX_FOLDED;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  of(schema: JsonValue | undefined): Parameters {
    const properties = new Map<string, JsonValue>();
    const required = new Set<string>();
    if (!isRecord(schema) || this.#remaining-- <= 0) return { properties, required };
    const own = schema as JsonObject;
    if (isRecord(own["properties"]))
      for (const [name, property] of Object.entries(own["properties"] as JsonObject)) properties.set(name, property);
    for (const name of namesIn(own["required"])) required.add(name);
    const all = [...listOf(own["allOf"]), ...(typeof own["$ref"] === "string" ? [this.#target(own["$ref"])] : [])];
    for (const part of all.map((each) => this.of(each))) {
      merge(properties, part.properties);
      for (const name of part.required) required.add(name);
    }
    for (const word of ["anyOf", "oneOf"]) {
      const parts = listOf(own[word]).map((each) => this.of(each));
      for (const part of parts) merge(properties, part.properties);
      const [first, ...others] = parts;
      for (const name of first?.required ?? [])
        if (others.every((other) => other.required.has(name))) required.add(name);
    }
    return { properties, required };
  }

  #target(reference: string): JsonValue | undefined {
    if (!reference.startsWith("#/")) return undefined;
    let place: unknown = this.#root;
    for (const step of reference.slice(2).split("/")) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      place = isRecord(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    }
    return place as JsonValue | undefined;
  }
}

/** If two alternatives describe a property differently, the property may match either. */
function merge(properties: Map<string, JsonValue>, others: ReadonlyMap<string, JsonValue>): void {
  for (const [name, other] of others) {
    const known = properties.get(name);
    if (known === undefined) properties.set(name, other);
    else if (JSON.stringify(known) !== JSON.stringify(other)) properties.set(name, eitherOf(known, other));
  }
}

function eitherOf(known: JsonValue, other: JsonValue): JsonValue {
  const isUnion = isRecord(known) && Object.keys(known).join() === "anyOf" && Array.isArray(known["anyOf"]);
  const before = isUnion ? (known["anyOf"] as readonly JsonValue[]) : [known];
  const isKnown = before.some((each) => JSON.stringify(each) === JSON.stringify(other));
  return { anyOf: isKnown ? [...before] : [...before, other] };
}

/** Removes optional parameters whose names the API rejects. The model can do without them. */
function withoutUnnameable(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return (schema as readonly JsonValue[]).map(withoutUnnameable);
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema as JsonObject).map(([word, operand]) => {
    if (word !== "properties" || !isRecord(operand)) return [word, withoutUnnameable(operand)] as const;
    const required = new Set(namesIn((schema as JsonObject)["required"]));
    const named = Object.entries(operand as JsonObject).filter(
      ([name]) => required.has(name) || PROPERTY_NAME.test(name),
    );
    return [word, Object.fromEntries(named.map(([name, inner]) => [name, withoutUnnameable(inner)]))] as const;
  });
  return Object.fromEntries(entries);
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function namesIn(value: JsonValue | undefined): readonly string[] {
  return listOf(value).filter((name) => typeof name === "string");
}
