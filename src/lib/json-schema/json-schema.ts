import {
  type Check,
  type Compiler,
  expect,
  first,
  isSchema,
  type Keyword,
  ok,
  type Problem,
  type Schema,
  Steps,
  TooManyStepsError,
  unchecked,
  wrong,
} from "./json-schema-check.ts";
import { PART_KEYWORDS } from "./json-schema-parts.ts";
import { VALUE_KEYWORDS } from "./json-schema-values.ts";
import { isRecord } from "../json.ts";

const KEYWORDS: Readonly<Record<string, Keyword>> = { ...VALUE_KEYWORDS, ...PART_KEYWORDS };

/** The check for the schema `false`. */
const nothing: Check = (value, steps) => ok(value, steps) ?? wrong("is not allowed");

interface CompileOptions {
  /** Whether the schema is untrusted: no pattern is run, and unresolved references are ignored. @defaultValue false */
  readonly isForeign?: boolean;
  /** Whether schemas and keywords that cannot be read are skipped instead of causing an error. @defaultValue false */
  readonly isLenient?: boolean;
}

/**
 * Compiles a JSON Schema into a function that returns a value's first problem. Compiling takes time proportional to the
 * schema's size, and the cost of a check is bounded. `unevaluated…`, `format` and unknown keywords are not checked.
 *
 * @throws {TypeError | SyntaxError} if a keyword, a pattern or a reference is invalid
 */
export function compileJsonSchema(
  root: Schema,
  { isForeign = false, isLenient = false }: CompileOptions = {},
): (value: unknown) => Problem | undefined {
  const compiled = new Map<unknown, Check>();
  const referred = new Set<unknown>();
  const compile = (schema: unknown): Check => {
    if (isLenient && !isSchema(schema)) return unchecked(compiler);
    expect(isSchema(schema), "a map, true or false");
    if (!isRecord(schema)) return schema === false ? nothing : ok;
    const known = compiled.get(schema);
    if (known) return known;
    let checks: readonly Check[] = [];
    const all: Check = (value, steps) => {
      steps.enter(1 + checks.length);
      const problem = first(checks, (test) => test(value, steps));
      steps.leave();
      return problem;
    };
    // The check is registered before its parts are compiled, because a schema may contain itself.
    compiled.set(schema, all);
    checks = Object.entries(schema).flatMap(([name, operand]) => {
      if (name === "$ref") return [refer(operand)];
      if (!Object.hasOwn(KEYWORDS, name)) return [];
      try {
        return KEYWORDS[name]?.(operand as never, schema, compiler) ?? [];
      } catch (error) {
        if (isLenient) return unchecked(compiler);
        throw error;
      }
    });
    return all;
  };
  // The targets of references are compiled below, one after another. If they were compiled here, a long chain of
  // references would overflow the stack.
  const refer = (reference: unknown): Check => {
    const target = resolve(root, String(reference));
    if (target === undefined && isForeign) return unchecked(compiler);
    if (target === undefined) throw new TypeError(`its reference "${String(reference)}" does not exist`);
    referred.add(target);
    return (value, steps) => compile(target)(value, steps);
  };
  const compiler: Compiler = { compile, isForeign, isPartial: false };
  const test = compile(root);
  for (const target of referred) compile(target);
  return (value) => {
    try {
      return test(value, new Steps());
    } catch (error) {
      if (error instanceof TooManyStepsError) return wrong("checking them takes too long");
      throw error;
    }
  };
}

/** Returns the message that tells the model about wrong arguments. Names the field, but does not repeat its value. */
export function describeProblem(path: readonly string[], message: string): string {
  const field = path.join(".");
  return field === "" ? `Invalid parameters: ${message}` : `Invalid parameter "${field}": ${message}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the schema that a reference such as `#/$defs/item` refers to, or `undefined` if there is none. */
function resolve(root: Schema, reference: string): unknown {
  let target: unknown = reference.startsWith("#") ? root : undefined;
  for (const part of reference.split("/").slice(1)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return isSchema(target) ? target : undefined;
}
