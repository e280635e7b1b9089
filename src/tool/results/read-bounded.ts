import { type ReadJson, readJson } from "../../lib/clean-json.ts";
import type { JsonValue } from "../../lib/json.ts";
import { LIMITS } from "../../protocol/limits.ts";

/** Like `readJson`, but refuses a value with more than `LIMITS.resultCharacters` of JSON. */
export function readBounded(value: unknown, name: string): ReadJson<JsonValue> {
  const read = readJson(value, name);
  if ("fault" in read || JSON.stringify(read.value).length <= LIMITS.resultCharacters) return read;
  return { fault: `${name}: over ${LIMITS.resultCharacters} characters of JSON`, isTooLarge: true };
}
