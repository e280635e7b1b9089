import type { z } from "zod";
import { didYouMean } from "./did-you-mean.ts";

/**
 * Describes one issue of a failed check, for example as `model.maxTokens: expected number, got "many"`.
 *
 * @param root the value that was checked
 * @param schema the schema it was checked with; used to suggest the right field for a misspelled one
 */
export function describeIssue(issue: z.core.$ZodIssue, root: unknown, schema?: z.core.$ZodType): string {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    // A schema that depends on the value supplies the field names itself, because `fieldsAt` cannot find them.
    const named = (issue as { readonly known?: readonly string[] }).known;
    const known = named ?? (schema === undefined ? [] : fieldsAt(schema, issue.path));
    return issue.keys.map((key) => `${[...path, key].join(".")}: unknown field.${didYouMean(key, known)}`).join(" ");
  }
  let value: unknown = root;
  // A string may stand for an object with one field, so the path may lead beyond it.
  for (const key of issue.path)
    if (value === undefined || typeof value === "object") value = (value as Record<PropertyKey, unknown> | null)?.[key];
  if (issue.code === "invalid_key") {
    const reasons = issue.issues.map(({ message }) => message);
    return `${path.join(".")}: ${reasons.join(", ")}, got ${preview(path.at(-1), false)}`;
  }
  const reason = issue.message.replace(/^[A-Z][a-z ]*: /, "").replace(/, received .*$/, "");
  const isPrivate = PRIVATE.includes(path[0] ?? "") || path.some((name) => NAMED_LIKE_A_KEY.test(name));
  return `${path.join(".") || "default export"}: ${reason}, got ${preview(value, isPrivate)}`;
}

/** Fields that may contain keys and passwords. Their strings are never shown. */
const PRIVATE = ["mcpServers", "toolSettings"];
const NAMED_LIKE_A_KEY = /key|token(?!s)|secret|password|credential|auth|header|cookie|env$|url$/iu;

/** Returns a short description of a value. Never shows the contents of objects and lists, which may include keys. */
function preview(value: unknown, isPrivate: boolean): string {
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0 ? "{}" : "an object";
  if (isPrivate && typeof value === "string") return `a string of ${value.length} characters`;
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Returns the names of the fields that a schema defines at a path in the value. */
export function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let schemas = unwrap(schema);
  for (const key of path) schemas = schemas.flatMap((each) => stepInto(each, key)).flatMap(unwrap);
  return schemas.flatMap(({ _zod: { def } }) => (isDef(def, "object") ? Object.keys(def.shape) : []));
}

/** Returns the schemas inside optional values, defaults, transformations and unions. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = schema._zod;
  if ("innerType" in def) return unwrap(def.innerType as z.core.$ZodType);
  if (isDef(def, "pipe")) return [def.in, def.out].flatMap(unwrap);
  if (isDef(def, "union")) return def.options.flatMap(unwrap);
  return [schema];
}

function stepInto({ _zod: { def } }: z.core.$ZodType, key: PropertyKey): z.core.$ZodType[] {
  if (isDef(def, "object")) {
    const field = def.shape[String(key)];
    return field === undefined ? [] : [field];
  }
  if (isDef(def, "array")) return [def.element];
  return isDef(def, "record") ? [def.valueType] : [];
}

interface Defs {
  readonly object: z.core.$ZodObjectDef;
  readonly array: z.core.$ZodArrayDef;
  readonly record: z.core.$ZodRecordDef;
  readonly union: z.core.$ZodUnionDef;
  readonly pipe: z.core.$ZodPipeDef;
}

function isDef<Kind extends keyof Defs>(def: z.core.$ZodTypeDef, kind: Kind): def is Defs[Kind] {
  return def.type === kind;
}
