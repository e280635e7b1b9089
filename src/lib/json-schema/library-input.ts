import { isRecord, type JsonObject } from "../json.ts";
import { at, first, type Problem, wrong } from "./json-schema-check.ts";

/** The names of members that every object inherits: `constructor`, `toString` and so on. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

/** JSON that is safe to pass to a schema library. Call `restore` after the library has read it. */
export type LibraryInput = { readonly value: unknown; readonly restore: () => void } | { readonly problem: Problem };

/**
 * Prepares JSON for a schema library such as zod, which misreads some names. The library mistakes inherited members for
 * properties, so if a schema has a property such as `constructor`, the library receives objects that inherit nothing.
 * The library also drops a property named `__proto__`, so an input with such a property is a problem.
 */
export function libraryInput(jsonSchema: JsonObject): (input: unknown) => LibraryInput {
  const text = JSON.stringify(jsonSchema);
  const namesInherited = INHERITED.some((name) => text.includes(`"${name}":`));
  return (input) => {
    const problem = findProto(input);
    if (problem) return { problem };
    if (!namesInherited) return { value: input, restore: () => {} };
    const copies: object[] = [];
    const restore = () => copies.forEach((copy) => Object.setPrototypeOf(copy, Object.prototype));
    return { value: withoutInherited(input, copies), restore };
  };
}

function findProto(value: unknown): Problem | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, "__proto__")) return at("__proto__", wrong("this parameter name is not allowed"));
  return first(Object.entries(value), ([key, inner]) => at(key, findProto(inner)));
}

function withoutInherited(value: unknown, copies: object[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutInherited(item, copies));
  if (!isRecord(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, inner] of Object.entries(value)) copy[key] = withoutInherited(inner, copies);
  copies.push(copy);
  return copy;
}
