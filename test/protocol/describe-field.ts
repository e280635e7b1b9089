import type * as v from "valibot";
import type { MapSchema } from "../../src/protocol/messages/fields.ts";

export interface FieldDescription {
  readonly name: string;
  /** The type as docs/protocol.md words it. */
  readonly type: string;
  readonly required: boolean;
}

export function describeFields(schema: MapSchema): FieldDescription[] {
  return Object.entries<Field>(schema.entries).map(([name, field]) => ({
    name,
    type: typeWord(field),
    required: field.wrapped === undefined && field.fallback === undefined,
  }));
}

/** The fields that a schema of any kind may have. */
interface Field extends v.GenericSchema {
  readonly wrapped?: Field;
  readonly fallback?: unknown;
  readonly item?: Field;
  readonly options?: readonly unknown[];
  readonly pipe?: readonly Field[];
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "number",
  boolean: "boolean",
  object: "map",
  custom: "map",
  unknown: "any",
};

function typeWord({ type, wrapped, item, options, pipe }: Field): string {
  if (wrapped) return typeWord(wrapped);
  if (item) return `list of ${typeWord(item)}`;
  if (options) return options.map((option) => `\`${String(option)}\``).join(" / ");
  if (isInteger(pipe)) return "integer";
  const word = WORDS[type];
  if (word === undefined) throw new TypeError(`The documentation has no word for ${type}`);
  return word;
}

/** Whether a schema's pipe requires an integer. A pipe may start with another pipe. */
function isInteger(pipe: readonly Field[] = []): boolean {
  return pipe.some((part) => part.type === "integer" || (part.kind === "schema" && isInteger(part.pipe)));
}
