import {
  type Check,
  type Compiler,
  first,
  isSchema,
  type Keyword,
  ok,
  type Problem,
  type Schema,
  Steps,
  TooManyStepsError,
  unknown,
  wrong,
} from "./json-schema-check.ts";
import { PART_KEYWORDS } from "./json-schema-parts.ts";
import { VALUE_KEYWORDS } from "./json-schema-values.ts";
import { isRecord } from "../json.ts";

const KEYWORDS: Readonly<Record<string, Keyword>> = { ...VALUE_KEYWORDS, ...PART_KEYWORDS };

interface CompileOptions {
  /** Somebody else's: its patterns are not run, and references that lead nowhere say nothing. @defaultValue false */
  readonly isForeign?: boolean;
}

/**
 * Makes the check of a JSON Schema, at no more cost than its own size; what the check costs is bounded, whatever the
 * schema and the value are. `unevaluated…`, `format` and what JSON Schema does not have are not checked.
 *
 * @throws {TypeError | SyntaxError} when a keyword, a pattern or a reference in it cannot be used
 */
export function compileJsonSchema(
  root: Schema,
  { isForeign = false }: CompileOptions = {},
): (value: unknown) => Problem | undefined {
  const compiled = new Map<unknown, Check>();
  const referred = new Set<unknown>();
  const compile = (schema: unknown): Check => {
    if (!isSchema(schema)) throw new TypeError("its schema is invalid: expected a map, true or false");
    if (!isRecord(schema)) return schema === false ? () => wrong("is not allowed") : ok;
    const known = compiled.get(schema);
    if (known) return known;
    let checks: readonly Check[] = [];
    const all: Check = (value, steps) => {
      steps.enter(1 + checks.length);
      const problem = first(checks, (test) => test(value, steps));
      steps.leave();
      return problem;
    };
    // Before its parts: it may be among them.
    compiled.set(schema, all);
    checks = Object.entries(schema).flatMap(([name, operand]) => {
      if (name === "$ref") return [refer(operand)];
      return Object.hasOwn(KEYWORDS, name) ? (KEYWORDS[name]?.(operand as never, schema, compiler) ?? []) : [];
    });
    return all;
  };
  // Through others, a schema may lead to very many: each is made afterwards, and found when it is used.
  const refer = (reference: unknown): Check => {
    const target = resolve(root, String(reference));
    if (target === undefined && isForeign) return unknown(compiler);
    if (target === undefined) throw new TypeError(`its reference "${String(reference)}" leads nowhere`);
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

/** What a model is told of its arguments; their values are not repeated. */
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

/** What a JSON pointer inside the schema leads to, as `#/$defs/item`; `undefined` when that is no schema. */
function resolve(root: Schema, reference: string): unknown {
  let target: unknown = reference.startsWith("#") ? root : undefined;
  for (const part of reference.split("/").slice(1)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return isSchema(target) ? target : undefined;
}
