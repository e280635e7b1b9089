import { type JsonObject } from "../lib/json.ts";
import { type PermissionRecord } from "../store/permission-record.ts";
import { compileInputSchema, tryParse } from "../tool/input-schema.ts";

/** Why a request does not take these arguments in the place of those that were shown; `undefined` when it does. */
export function checkEditedInput({ editedInputSchema }: PermissionRecord, input: JsonObject): string | undefined {
  if (!editedInputSchema) return "this tool takes none";
  const checked = tryParse(compileInputSchema(editedInputSchema), input);
  return "error" in checked ? checked.error : undefined;
}
