import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import { MESSAGES, type MessageType } from "../src/protocol/messages/messages.ts";

/** The messages in `proto/opencode/tool.proto`, with the descriptions for their schemas. */
const DESCRIPTIONS = {
  tool_call_state: "The state of one tool call",
  permission_request: "What a tool asks of a person",
  permission_response: "What the person says to it, and by the worker: what became of it",
} as const satisfies Partial<Record<MessageType, string>>;

/**
 * Returns the contents of the files in `schemas/` by name. Each file is the schema of one of the messages in
 * `DESCRIPTIONS` as the worker reads and writes it, with protobuf's JSON names.
 */
export function messageSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(DESCRIPTIONS).map(([type, what]) => {
      const { number, shape } = MESSAGES[type as keyof typeof DESCRIPTIONS];
      const title = type.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      const description = `${what} (type ${number}).`;
      const { $schema, ...rest } = toJsonSchema(shape, {
        target: "draft-2020-12",
        // JSON Schema can express neither the cleaning of strings nor that a number is finite.
        ignoreActions: ["transform", "finite"],
        overrideAction: ({ jsonSchema }) => relax(jsonSchema),
      });
      return [`${title}.schema.json`, `${JSON.stringify({ $schema, title, description, ...rest }, null, 2)}\n`];
    }),
  );
}

/** Removes bounds that every whole JavaScript number satisfies, because they are of no use to readers. */
function relax(schema: JsonSchema): JsonSchema {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return schema;
}
