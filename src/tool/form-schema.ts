import { z } from "zod";
import { readJson } from "../lib/clean-json.ts";
import type { JsonObject } from "../lib/json.ts";
import { type FormField, readForm } from "../protocol/forms/form.ts";
import type { Elicitation } from "./define-tool.ts";
import { compileForeignSchema, compileInputSchema, type InputSchema } from "./input-schema.ts";
import { messageOf } from "./outcome.ts";

export interface CompiledForm {
  readonly schema: InputSchema;
  readonly fields: readonly FormField[];
}

function readSchema(schema: object): JsonObject {
  const read = readJson({ type: "object", ...schema }, "the form's schema");
  if ("fault" in read) throw new TypeError(read.fault);
  return read.value as JsonObject;
}

/**
 * Compiles the schema of a form. Patterns and references in a JSON Schema are not evaluated, because an MCP server's
 * schema may contain anything.
 *
 * @throws {TypeError} if no form can show the schema
 */
export function compileForm(schema: Elicitation<unknown>["schema"]): CompiledForm {
  try {
    const compiled =
      schema instanceof z.ZodType ? compileInputSchema(schema) : compileForeignSchema(readSchema(schema));
    return { schema: compiled, fields: readForm(compiled.jsonSchema) };
  } catch (error) {
    throw new TypeError(`elicit: ${messageOf(error)}`, { cause: error });
  }
}
