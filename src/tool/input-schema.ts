import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { z } from "zod";
import { compileJsonSchema, describeProblem } from "../lib/json-schema/json-schema.ts";
import { libraryInput } from "../lib/json-schema/library-input.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";

/** A tool's input schema, compiled once: the schema that the model sees, and the check of the model's input. */
export interface InputSchema {
  readonly jsonSchema: JsonObject;
  /** @throws {InvalidInputError} naming the first invalid field, never its value */
  readonly parse: (input: unknown) => unknown;
}

export class InvalidInputError extends Error {}

/** Returns the parsed input, or the message of the InvalidInputError. */
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

/** @throws {TypeError} if the schema cannot be used for a tool's input (its root must be an object) */
export function compileInputSchema(schema: z.ZodType | JsonObject): InputSchema {
  return schema instanceof z.ZodType ? fromZod(schema) : fromJsonSchema(schema);
}

/**
 * Compiles a schema from a participant or an MCP server. It is never turned into code, and neither the schema nor a
 * value can make the check expensive. The model sees `shown`.
 *
 * @param options.isLenient whether to skip a keyword that cannot be read, instead of rejecting the schema
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
  const { $schema: _, ...jsonSchema } = toJsonSchema(schema) as Record<string, unknown>;
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

/** @throws {TypeError} naming the field that JSON Schema cannot represent */
function toJsonSchema(schema: z.core.$ZodType): unknown {
  try {
    return z.toJSONSchema(schema, { io: "input" });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${unrepresentableField(schema)}: ${why}`, { cause: error });
  }
}

/** Returns the innermost field that JSON Schema cannot represent, such as `input.dates[]`. */
function unrepresentableField(schema: z.core.$ZodType): string {
  let found: readonly (string | number)[] = [];
  // zod calls this for a field's parts before the field itself.
  const override = ({ zodSchema, path }: { zodSchema: z.core.$ZodType; path: (string | number)[] }) => {
    if (found.length === 0 && !isRepresentable(zodSchema)) found = path;
  };
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any", override });
  let field = "input";
  for (let at = 0; at < found.length; at++) {
    if (found[at] === "items") field += "[]";
    else if (found[at] === "properties") field += `.${found[++at]}`;
  }
  return field;
}

function isRepresentable(schema: z.core.$ZodType): boolean {
  try {
    z.toJSONSchema(schema, { io: "input" });
    return true;
  } catch {
    return false;
  }
}

/**
 * The shared instance of Ajv, because creating one takes 10 ms. Compiled schemas are removed again; otherwise, the
 * instance would keep growing.
 */
const ajv = new Ajv2020({
  strict: false,
  allErrors: false,
  logger: false,
  validateFormats: false,
  // Allows a parameter named `constructor`.
  ownProperties: true,
});

function fromJsonSchema(jsonSchema: JsonObject): InputSchema {
  requireObjectRoot(jsonSchema);
  // Ajv knows only the `$schema` of its own draft and would reject any other.
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

/** The params in which Ajv names a missing or unexpected property. */
const PROPERTY_PARAMS = ["missingProperty", "additionalProperty", "unevaluatedProperty", "propertyName"];

function fieldOf(error: ErrorObject | undefined): [string[], string] {
  const steps = (error?.instancePath ?? "").split("/").slice(1);
  const path = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const params: Record<string, unknown> = error?.params ?? {};
  const named = PROPERTY_PARAMS.map((param) => params[param]).find((name) => typeof name === "string");
  return [[...path, ...(typeof named === "string" ? [named] : [])], error?.message ?? "is invalid"];
}
