import { readJson } from "../../lib/clean-json.ts";
import { packMap } from "../../protocol/codec/pack.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { compileJsonSchema, describeProblem } from "../../lib/json-schema/json-schema.ts";
import { libraryInput } from "../../lib/json-schema/library-input.ts";

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/**
 * A schema from zod 4, or from another library that supports Standard Schema and Standard JSON Schema. Schemas of
 * `zod/mini` do not support Standard JSON Schema: pass `z.toJSONSchema(schema)` instead, whose result supports both.
 */
export interface StandardInput<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

export type ParsedInput = { readonly value: unknown } | { readonly problem: string };

interface CompiledInput {
  /** The JSON Schema to announce. */
  readonly inputSchema: JsonObject;
  readonly parse: (input: unknown) => Promise<ParsedInput>;
}

/** The worker rejects longer schemas. */
const MAX_SCHEMA_LENGTH = 32_768;

/** @throws {TypeError} when the schema is not usable */
export function compileInput(toolName: string, input: StandardInput<unknown> | JsonObject): CompiledInput {
  try {
    return isStandard(input) ? compileStandard(input) : compilePlain(input);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Tool "${toolName}": the input schema cannot be used: ${why}`, { cause: error });
  }
}

function isStandard(input: object): input is StandardInput<unknown> {
  return "~standard" in input;
}

function compileStandard({ "~standard": { validate, jsonSchema } }: StandardInput<unknown>): CompiledInput {
  if (!isRecord(jsonSchema))
    throw new TypeError("it cannot be converted to JSON Schema; with zod/mini, pass z.toJSONSchema(schema)");
  const { $schema: _, ...inputSchema } = jsonSchema.input({ target: "draft-2020-12" });
  const prepare = libraryInput(inputSchema as JsonObject);
  return {
    inputSchema: requireObject(inputSchema as JsonObject),
    parse: async (value) => {
      const given = prepare(value);
      if ("problem" in given) return toProblem(given.problem);
      const validated = await validate(given.value);
      given.restore();
      return validated.issues ? toProblem(validated.issues[0]) : { value: validated.value };
    },
  };
}

function compilePlain(schema: JsonObject): CompiledInput {
  const check = compileJsonSchema(requireObject(schema));
  return {
    inputSchema: schema,
    parse: (value) => {
      const problem = check(value);
      return Promise.resolve(problem ? toProblem(problem) : { value });
    },
  };
}

function requireObject(schema: JsonObject): JsonObject {
  if (schema["type"] !== "object") throw new TypeError('its root must have type "object"');
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) {
    throw new TypeError(`it is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  // All tools are announced in one message, so a schema that cannot be sent would block the other tools, too.
  const read = readJson(schema, "it");
  if ("fault" in read) throw new TypeError(read.fault);
  packMap(schema);
  return schema;
}

function toProblem({ path = [], message }: Issue = { message: "is invalid" }): ParsedInput {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  return { problem: describeProblem(keys, message) };
}
