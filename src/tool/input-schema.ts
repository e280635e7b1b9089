import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { z } from "zod";
import { compileJsonSchema, describeProblem } from "../lib/json-schema/json-schema.ts";
import { libraryInput } from "../lib/json-schema/library-input.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";

/** A tool's input schema, compiled once: what the model is shown, and the check of what it writes. */
export interface InputSchema {
  readonly jsonSchema: JsonObject;
  /** @throws {InvalidInputError} names the first wrong field, never its value */
  readonly parse: (input: unknown) => unknown;
}

export class InvalidInputError extends Error {}

/** The checked input, or the message of the InvalidInputError. */
export function tryParse(
  schema: InputSchema,
  input: unknown,
): { readonly value: unknown } | { readonly error: string } {
  try {
    return { value: schema.parse(input) };
  } catch (error) {
    if (error instanceof InvalidInputError) return { error: error.message };
    throw error;
  }
}

/** @throws {TypeError} when the schema is not usable as a tool's input (its root must be an object) */
export function compileInputSchema(schema: z.ZodType | JsonObject): InputSchema {
  return schema instanceof z.ZodType ? fromZod(schema) : fromJsonSchema(schema);
}

/**
 * Compiles the schema of a participant or an MCP server. It is never made into code, and neither it nor a value can
 * make the check expensive. The model is shown `shown`.
 *
 * @param options.isLenient whether a keyword that cannot be read is not checked, instead of refusing the schema
 */
export function compileForeignSchema(
  schema: JsonObject,
  shown: JsonObject = schema,
  { isLenient = false }: { readonly isLenient?: boolean } = {},
): InputSchema {
  requireObjectRoot(schema);
  const check = compileJsonSchema(schema, { isForeign: true, isLenient });
  return {
    jsonSchema: shown,
    parse(input) {
      const problem = check(input);
      if (problem) throw new InvalidInputError(describeProblem(problem.path, problem.message));
      return input;
    },
  };
}

function fromZod(schema: z.ZodType): InputSchema {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
  requireObjectRoot(jsonSchema);
  const prepare = libraryInput(jsonSchema as JsonObject);
  return {
    jsonSchema: jsonSchema as JsonObject,
    parse(input) {
      const given = prepare(input);
      if ("problem" in given) throw new InvalidInputError(describeProblem(given.problem.path, given.problem.message));
      const parsed = schema.safeParse(given.value);
      given.restore();
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw new InvalidInputError(describeProblem(issue?.path.map(String) ?? [], issue?.message ?? "is invalid"));
    },
  };
}

/** One for all, because making one costs 10 ms. It must forget what it has compiled, or it grows with every schema. */
const ajv = new Ajv2020({
  strict: false,
  allErrors: false,
  logger: false,
  validateFormats: false,
  // Lets a parameter be named `constructor`.
  ownProperties: true,
});

function fromJsonSchema(jsonSchema: JsonObject): InputSchema {
  requireObjectRoot(jsonSchema);
  // Ajv knows only the name of its own draft and would refuse a schema that names another.
  const { $schema: _, ...compiled } = jsonSchema;
  const validate = ajv.compile(compiled);
  ajv.removeSchema(compiled);
  return {
    jsonSchema,
    parse(input) {
      if (validate(input)) return input;
      throw new InvalidInputError(describeProblem(...fieldOf(validate.errors?.[0])));
    },
  };
}

function requireObjectRoot(schema: unknown): void {
  if (!isRecord(schema) || schema["type"] !== "object")
    throw new TypeError('the input schema\'s root must have type "object"');
}

/** The params in which Ajv names a property that is missing or one too many. */
const PROPERTY_PARAMS = ["missingProperty", "additionalProperty", "unevaluatedProperty", "propertyName"];

function fieldOf(error: ErrorObject | undefined): [string[], string] {
  const steps = (error?.instancePath ?? "").split("/").slice(1);
  const path = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const params: Record<string, unknown> = error?.params ?? {};
  const named = PROPERTY_PARAMS.map((param) => params[param]).find((name) => typeof name === "string");
  return [[...path, ...(typeof named === "string" ? [named] : [])], error?.message ?? "is invalid"];
}
