import { z } from "zod";

export interface FieldDescription {
  readonly name: string;
  /** In the words of docs/protocol.md. */
  readonly type: string;
  readonly required: boolean;
}

export function describeFields(schema: z.ZodObject): FieldDescription[] {
  return Object.entries<z.core.$ZodType>(schema.shape).map(([name, field]) => ({
    name,
    type: typeWord(field),
    required: !isWrapper(field),
  }));
}

type Wrapper = z.ZodExactOptional | z.ZodDefault | z.ZodCatch;

function isWrapper(field: z.core.$ZodType): field is Wrapper {
  return field instanceof z.ZodExactOptional || field instanceof z.ZodDefault || field instanceof z.ZodCatch;
}

function typeWord(field: z.core.$ZodType): string {
  if (isWrapper(field)) return typeWord(field.def.innerType);
  if (field instanceof z.ZodString) return "text";
  if (field instanceof z.ZodNumber) return field.format === "safeint" ? "integer" : "number";
  if (field instanceof z.ZodBoolean) return "boolean";
  if (field instanceof z.ZodRecord || field instanceof z.ZodObject) return "map";
  if (field instanceof z.ZodCustom) return "any";
  if (field instanceof z.ZodArray) return `list of ${typeWord(field.element)}`;
  if (field instanceof z.ZodEnum) return field.options.map((option) => `\`${option}\``).join(" / ");
  if (field instanceof z.ZodUnion) return field.options.map(typeWord).join(" / ");
  if (field instanceof z.ZodLiteral) return [...field.values].map((value) => `\`${String(value)}\``).join(" / ");
  throw new TypeError(`The documentation has no word for ${field._zod.def.type}`);
}
