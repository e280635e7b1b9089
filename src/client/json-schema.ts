import { isRecord } from "../lib/json.ts";

export interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => Problem | undefined;
/** Makes the check of one keyword; `schema` is the one that the keyword stands in. */
type Keyword = (operand: never, schema: Schema, compile: (schema: unknown) => Check) => Check;

const ok: Check = () => undefined;
const wrong = (message: string): Problem => ({ path: [], message });
const at = (key: string, problem: Problem | undefined): Problem | undefined =>
  problem && { ...problem, path: [key, ...problem.path] };
const check =
  (holds: (value: unknown) => boolean, message: string): Check =>
  (value) =>
    holds(value) ? undefined : wrong(message);

function first<Item>(items: Iterable<Item>, find: (item: Item) => Problem | undefined): Problem | undefined {
  for (const item of items) {
    const problem = find(item);
    if (problem) return problem;
  }
  return undefined;
}

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
  (limit: number) =>
    check((value) => typeof value !== "number" || holds(value, limit), `expected ${words} ${limit}`);
const count =
  (size: (value: unknown) => number | undefined, isMost: boolean, unit: string): Keyword =>
  (limit: number) =>
    check(
      (value) => isMost === (size(value) ?? limit) <= limit || size(value) === limit || size(value) === undefined,
      `expected at ${isMost ? "most" : "least"} ${limit} ${unit}`,
    );
const lengthOf = (value: unknown) => (typeof value === "string" ? Array.from(value).length : undefined);
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined);
const sizeOf = (value: unknown) => (isRecord(value) ? Object.keys(value).length : undefined);
const schemas = (list: readonly unknown[], compile: (schema: unknown) => Check) =>
  list.map((schema) => compile(schema));

/** Keys of `value` that `properties` and `patternProperties` say nothing about. */
function otherKeys(value: object, { properties = {}, patternProperties = {} }: Schema): string[] {
  const patterns = Object.keys(patternProperties as object).map((pattern) => new RegExp(pattern, "u"));
  return Object.keys(value).filter(
    (key) => !Object.hasOwn(properties as object, key) && !patterns.some((pattern) => pattern.test(key)),
  );
}

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (type: string | readonly string[]) => {
    const types = [type].flat();
    const unknown = types.find((name) => !Object.hasOwn(TYPES, name));
    if (unknown !== undefined) throw new TypeError(`its type "${unknown}" is none of JSON Schema`);
    return check((value) => types.some((name) => TYPES[name]?.(value)), `expected ${types.join(" or ")}`);
  },
  enum: (values: readonly unknown[]) =>
    check(
      (value) => values.some((allowed) => isEqual(allowed, value)),
      `expected one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
    ),
  const: (constant: unknown) => check((value) => isEqual(constant, value), `expected ${JSON.stringify(constant)}`),
  minimum: number((value, limit) => value >= limit, "a number from"),
  maximum: number((value, limit) => value <= limit, "a number up to"),
  exclusiveMinimum: number((value, limit) => value > limit, "a number above"),
  exclusiveMaximum: number((value, limit) => value < limit, "a number below"),
  multipleOf: number((value, limit) => Math.abs(value / limit - Math.round(value / limit)) < 1e-9, "a multiple of"),
  minLength: count(lengthOf, false, "characters"),
  maxLength: count(lengthOf, true, "characters"),
  minItems: count(itemsOf, false, "items"),
  maxItems: count(itemsOf, true, "items"),
  minProperties: count(sizeOf, false, "entries"),
  maxProperties: count(sizeOf, true, "entries"),
  pattern: (source: string) => {
    const pattern = new RegExp(source, "u");
    return check((value) => typeof value !== "string" || pattern.test(value), `expected text that matches ${source}`);
  },
  uniqueItems: (isUnique: boolean) =>
    check(
      (value) =>
        !isUnique ||
        !Array.isArray(value) ||
        value.every((item, index) => value.findIndex((other) => isEqual(item, other)) === index),
      "expected no item twice",
    ),
  prefixItems: (list: readonly unknown[], _schema, compile) => {
    const checks = schemas(list, compile);
    return (value) =>
      Array.isArray(value)
        ? first(checks.slice(0, value.length).entries(), ([index, test]) => at(String(index), test(value[index])))
        : undefined;
  },
  items: (items: unknown, { prefixItems = [] }, compile) => {
    const test = compile(items);
    const start = (prefixItems as readonly unknown[]).length;
    return (value) =>
      Array.isArray(value)
        ? first(value.entries(), ([index, item]) => (index < start ? undefined : at(String(index), test(item))))
        : undefined;
  },
  required: (keys: readonly string[]) => (value) =>
    isRecord(value)
      ? first(keys, (key) => (Object.hasOwn(value, key) ? undefined : at(key, wrong("is required"))))
      : undefined,
  properties: (properties: Schema, _schema, compile) => {
    const checks = Object.entries(properties).map(([key, schema]) => [key, compile(schema)] as const);
    return (value) =>
      isRecord(value)
        ? first(checks, ([key, test]) => (Object.hasOwn(value, key) ? at(key, test(value[key])) : undefined))
        : undefined;
  },
  patternProperties: (properties: Schema, _schema, compile) => {
    const checks = Object.entries(properties).map(([key, schema]) => [new RegExp(key, "u"), compile(schema)] as const);
    return (value) =>
      isRecord(value)
        ? first(Object.entries(value), ([key, item]) =>
            first(checks, ([pattern, test]) => (pattern.test(key) ? at(key, test(item)) : undefined)),
          )
        : undefined;
  },
  additionalProperties: (additional: unknown, schema, compile) => {
    const test = additional === false ? () => wrong("is not a known parameter") : compile(additional);
    return (value) =>
      isRecord(value) ? first(otherKeys(value, schema), (key) => at(key, test(value[key]))) : undefined;
  },
  allOf: (list: readonly unknown[], _schema, compile) => {
    const checks = schemas(list, compile);
    return (value) => first(checks, (test) => test(value));
  },
  anyOf: (list: readonly unknown[], _schema, compile) => {
    const checks = schemas(list, compile);
    return check((value) => checks.some((test) => !test(value)), "fits none of its alternatives");
  },
  oneOf: (list: readonly unknown[], _schema, compile) => {
    const checks = schemas(list, compile);
    return check((value) => checks.filter((test) => !test(value)).length === 1, "does not fit exactly one alternative");
  },
  not: (schema: unknown, _schema, compile) => {
    const test = compile(schema);
    return check((value) => test(value) !== undefined, "is not allowed");
  },
};

/**
 * Compiles the checks of a JSON Schema that a client tool is likely to have; other keywords are not checked here. The
 * worker has checked a request against the whole schema before it sends it.
 *
 * @throws {TypeError | SyntaxError} when a type, a pattern or a reference in it cannot be used
 */
export function compileJsonSchema(root: Schema): Check {
  const compiled = new Map<unknown, Check>();
  const compile = (schema: unknown): Check => {
    if (schema === false) return () => wrong("is not allowed");
    if (!isRecord(schema)) return ok;
    const known = compiled.get(schema);
    if (known) return known;
    let checks: readonly Check[] = [];
    const all: Check = (value) => first(checks, (test) => test(value));
    // Before its parts: a schema may refer to itself.
    compiled.set(schema, all);
    checks = Object.entries(schema).flatMap(([name, operand]) => {
      if (name === "$ref") return compile(resolve(root, String(operand)));
      return Object.hasOwn(KEYWORDS, name) ? (KEYWORDS[name]?.(operand as never, schema, compile) ?? []) : [];
    });
    return all;
  };
  return compile(root);
}

/** A JSON pointer inside the schema, as `#/$defs/item`. */
function resolve(root: Schema, reference: string): unknown {
  let target: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (!reference.startsWith("#") || target === undefined)
    throw new TypeError(`its reference "${reference}" leads nowhere`);
  return target;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const entries = Object.entries(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    entries.length === Object.keys(other).length &&
    entries.every(([key, value]) => Object.hasOwn(other, key) && isEqual(value, Reflect.get(other, key)))
  );
}
