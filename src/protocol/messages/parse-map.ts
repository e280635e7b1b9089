import * as v from "valibot";
import { isRecord } from "../../lib/json.ts";
import { kindOf } from "./kind-of.ts";

export type MapSchema = v.ObjectSchema<v.ObjectEntries, undefined>;
type Parsed<Output> = { readonly value: Output } | { readonly fault: string };

/** valibot's own texts hold the value. Given here and not to `v.setGlobalConfig`, which is the application's too. */
const config: v.Config<v.BaseIssue<unknown>> = {
  abortEarly: true,
  message: ({ expected, input }) => `Invalid input: expected ${expected?.toLowerCase()}, received ${kindOf(input)}`,
};

/** Reads a map, or says where and what its first fault is, never the value. `root` is what the map is called. */
export function parseMap<Schema extends MapSchema>(
  schema: Schema,
  value: unknown,
  root: string,
): Parsed<v.InferOutput<Schema>> {
  // To valibot a list is an object, too.
  if (!isRecord(value)) return { fault: `${root}: Invalid input: expected object, received ${kindOf(value)}` };
  const { success, output, issues } = v.safeParse(schema, value, config);
  return success ? { value: output } : { fault: root + describeIssue(issues[0], schema) };
}

function describeIssue({ type, path, message }: v.BaseIssue<unknown>, { entries }: MapSchema): string {
  const keys = path?.map(({ key }) => key) ?? [];
  const where = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  // Of a field that is missing only the field itself knows what was expected.
  const missing = type === "object" ? entries[String(keys[0])] : undefined;
  const what = missing && v.safeParse(missing, undefined, config).issues?.[0].message;
  return `${where}: ${what ?? message}`;
}
