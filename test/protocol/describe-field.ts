import * as z from "zod/mini";

export interface FieldDescription {
  readonly name: string;
  /** In the words of docs/protocol.md. */
  readonly type: string;
  readonly required: boolean;
}

export function describeFields(schema: z.ZodMiniObject): FieldDescription[] {
  return Object.entries<z.core.$ZodType>(schema.shape).map(([name, field]) => ({
    name,
    type: typeWord(field),
    required: !isWrapper(field),
  }));
}

type Wrapper = z.core.$ZodExactOptional | z.core.$ZodDefault | z.core.$ZodCatch;

function isWrapper(field: z.core.$ZodType): field is Wrapper {
  const { $ZodExactOptional, $ZodDefault, $ZodCatch } = z.core;
  return field instanceof $ZodExactOptional || field instanceof $ZodDefault || field instanceof $ZodCatch;
}

function typeWord(field: z.core.$ZodType): string {
  if (isWrapper(field)) return typeWord(field._zod.def.innerType);
  if (field instanceof z.core.$ZodString) return "text";
  if (field instanceof z.core.$ZodNumberFormat) return field._zod.def.format === "safeint" ? "integer" : "number";
  if (field instanceof z.core.$ZodNumber) return "number";
  if (field instanceof z.core.$ZodBoolean) return "boolean";
  if (field instanceof z.core.$ZodRecord || field instanceof z.core.$ZodObject) return "map";
  if (field instanceof z.core.$ZodCustom) return "any";
  if (field instanceof z.core.$ZodArray) return `list of ${typeWord(field._zod.def.element)}`;
  if (field instanceof z.core.$ZodEnum)
    return Object.values(field._zod.def.entries)
      .map((option) => `\`${option}\``)
      .join(" / ");
  if (field instanceof z.core.$ZodUnion) return field._zod.def.options.map(typeWord).join(" / ");
  if (field instanceof z.core.$ZodLiteral)
    return field._zod.def.values.map((value) => `\`${String(value)}\``).join(" / ");
  throw new TypeError(`The documentation has no word for ${field._zod.def.type}`);
}
