import {
  at,
  check,
  type Check,
  type Compiler,
  expect,
  first,
  isTextList,
  type Keyword,
  keysOf,
  ok,
  type Schema,
  unchecked,
  wrong,
} from "./json-schema-check.ts";
import { isRecord } from "../json.ts";

function list(schemas: unknown, { compile }: Compiler): readonly Check[] {
  if (!Array.isArray(schemas) || schemas.length === 0) throw new TypeError("its schema is invalid: expected a list");
  return schemas.map((schema) => compile(schema));
}

function entries(schemas: unknown, { compile }: Compiler): readonly (readonly [string, Check])[] {
  expect(isRecord(schemas), "a map of schemas");
  return Object.entries(schemas as Schema).map(([key, schema]) => [key, compile(schema)] as const);
}

const patternsOf = (properties: unknown) =>
  Object.keys(isRecord(properties) ? properties : {}).map((pattern) => new RegExp(pattern, "u"));

/** Keywords about a value's contents, and keywords that combine schemas. */
export const PART_KEYWORDS: Readonly<Record<string, Keyword>> = {
  prefixItems: (schemas: unknown, _schema, compiler) => {
    const checks = list(schemas, compiler);
    return (value, steps) =>
      Array.isArray(value)
        ? first(checks.slice(0, value.length).entries(), ([index, test]) =>
            at(String(index), test(value[index], steps)),
          )
        : undefined;
  },
  items: (items: unknown, { prefixItems }, { compile }) => {
    const test = compile(items);
    const start = Array.isArray(prefixItems) ? prefixItems.length : 0;
    return (value, steps) =>
      Array.isArray(value)
        ? first(value.entries(), ([index, item]) => (index < start ? undefined : at(String(index), test(item, steps))))
        : undefined;
  },
  contains: (item: unknown, { minContains = 1, maxContains = Infinity }, compiler) => {
    const test = compiler.compile(item);
    return check((value, steps) => {
      if (!Array.isArray(value)) return true;
      const { length } = value.filter((each) => !test(each, steps));
      return length >= Number(minContains) && (compiler.isPartial || length <= Number(maxContains));
    }, "does not contain the required number of matching items");
  },
  required: (names: unknown, { properties }, { isForeign }) => {
    expect(isTextList(names), '"required" to be a list of names');
    // zod lists properties with a default as required, but the schema's author accepts a value without them.
    const hasDefault = (key: string) => {
      const property = isRecord(properties) && properties[key];
      return isRecord(property) && "default" in property;
    };
    const keys = (names as readonly string[]).filter((key) => !isForeign || !hasDefault(key));
    return (value, steps) => {
      if (!isRecord(value)) return undefined;
      steps.spend(keys.length);
      return first(keys, (key) => (Object.hasOwn(value, key) ? undefined : at(key, wrong("is required"))));
    };
  },
  dependentRequired: (needs: unknown) => {
    expect(isRecord(needs) && Object.values(needs).every(isTextList), '"dependentRequired" to be a map of lists');
    const checks = Object.entries(needs as Readonly<Record<string, readonly string[]>>);
    return (value, steps) =>
      isRecord(value)
        ? first(checks, ([key, needed]) => {
            steps.spend(1 + needed.length);
            if (!Object.hasOwn(value, key)) return undefined;
            const missing = needed.find((name) => !Object.hasOwn(value, name));
            return missing === undefined ? undefined : at(missing, wrong(`is required when ${key} is set`));
          })
        : undefined;
  },
  dependentSchemas: (schemas: unknown, _schema, compiler) => {
    const checks = entries(schemas, compiler);
    return (value, steps) => {
      if (!isRecord(value)) return undefined;
      steps.spend(checks.length);
      return first(checks, ([key, test]) => (Object.hasOwn(value, key) ? test(value, steps) : undefined));
    };
  },
  propertyNames: (names: unknown, _schema, { compile }) => {
    const test = compile(names);
    return (value, steps) =>
      isRecord(value) ? first(keysOf(value, steps), (key) => at(key, test(key, steps))) : undefined;
  },
  properties: (properties: unknown, _schema, compiler) => {
    const checks = entries(properties, compiler);
    return (value, steps) => {
      if (!isRecord(value)) return undefined;
      steps.spend(checks.length);
      return first(checks, ([key, test]) => (Object.hasOwn(value, key) ? at(key, test(value[key], steps)) : undefined));
    };
  },
  patternProperties: (properties: unknown, _schema, compiler) => {
    const checks = entries(properties, compiler);
    if (compiler.isForeign) return unchecked(compiler);
    const patterned = patternsOf(properties).map((pattern, index) => [pattern, checks[index]?.[1] ?? ok] as const);
    return (value, steps) =>
      isRecord(value)
        ? first(keysOf(value, steps), (key) =>
            first(patterned, ([pattern, test]) => (pattern.test(key) ? at(key, test(value[key], steps)) : undefined)),
          )
        : undefined;
  },
  additionalProperties: (additional: unknown, { properties, patternProperties }, { compile, isForeign }) => {
    const test = additional === false ? () => wrong("is not a known parameter") : compile(additional);
    const known = isRecord(properties) ? properties : {};
    if (isForeign && isRecord(patternProperties)) return ok;
    const patterns = patternsOf(patternProperties);
    const isOther = (key: string) => !Object.hasOwn(known, key) && !patterns.some((pattern) => pattern.test(key));
    return (value, steps) =>
      isRecord(value)
        ? first(keysOf(value, steps), (key) => (isOther(key) ? at(key, test(value[key], steps)) : undefined))
        : undefined;
  },
  allOf: (schemas: unknown, _schema, compiler) => {
    const checks = list(schemas, compiler);
    return (value, steps) => first(checks, (test) => test(value, steps));
  },
  anyOf: (schemas: unknown, _schema, compiler) => {
    const checks = list(schemas, compiler);
    if (checks.length === 1) return checks[0] ?? ok;
    return check(
      (value, steps) => checks.some((test) => !test(value, steps)),
      "does not match any of the alternatives",
    );
  },
  oneOf: (schemas: unknown, _schema, compiler) => {
    const checks = list(schemas, compiler);
    if (checks.length === 1) return checks[0] ?? ok;
    const isRight = (fitting: number) => (compiler.isPartial ? fitting > 0 : fitting === 1);
    return check(
      (value, steps) => isRight(checks.filter((test) => !test(value, steps)).length),
      "does not match exactly one of the alternatives",
    );
  },
  not: (schema: unknown, _schema, compiler) => {
    const test = compiler.compile(schema);
    return check((value, steps) => compiler.isPartial || test(value, steps) !== undefined, "is not allowed");
  },
  if: (condition: unknown, schema, compiler) => {
    const test = compiler.compile(condition);
    const whenTrue = compiler.compile(schema["then"] ?? true);
    const whenFalse = compiler.compile(schema["else"] ?? true);
    return (value, steps) => {
      if (compiler.isPartial) return undefined;
      return test(value, steps) ? whenFalse(value, steps) : whenTrue(value, steps);
    };
  },
};
