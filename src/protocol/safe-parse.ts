import * as z from "zod/mini";

/** `zod/mini` has no texts of its own. Given here and not to `z.config`, which is the application's too. */
const { localeError: error } = z.locales.en();

export function safeParse<Schema extends z.core.$ZodType>(
  schema: Schema,
  value: unknown,
): z.core.util.SafeParseResult<z.output<Schema>> {
  return z.safeParse(schema, value, { error });
}
