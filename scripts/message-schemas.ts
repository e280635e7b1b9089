import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import {
  permissionRequestSchema,
  permissionResponseSchema,
  toolCallStateSchema,
} from "../src/protocol/messages/tool-messages.ts";

const SCHEMAS = {
  toolCallState: [toolCallStateSchema, "The state of one tool call (type 100)."],
  permissionRequest: [permissionRequestSchema, "What a tool asks of a person (type 101)."],
  permissionResponse: [
    permissionResponseSchema,
    "What the person says to it, and by the worker: what became of it (type 102).",
  ],
} as const;

/** The files of `schemas/` by name: spec/004's messages as the worker reads and writes them, in protobuf's JSON names. */
export function messageSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(SCHEMAS).map(([name, [schema, description]]) => {
      const { $schema, ...rest } = toJsonSchema(schema, {
        target: "draft-2020-12",
        // JSON Schema has no words for them: cleaning a text, and that a number is not infinite.
        ignoreActions: ["transform", "finite"],
        overrideAction: ({ jsonSchema }) => relax(jsonSchema),
      });
      return [`${name}.schema.json`, `${JSON.stringify({ $schema, title: name, description, ...rest }, null, 2)}\n`];
    }),
  );
}

/** Every JavaScript number that is whole is in these bounds: they tell a reader nothing. */
function relax(schema: JsonSchema): JsonSchema {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return schema;
}
