import { type JsonValue } from "../../lib/json.ts";
import { type Sql } from "./pool.ts";

/** A jsonb parameter, or SQL's null (not JSON's) for nothing. */
export function jsonParameter(sql: Sql, value: JsonValue | undefined) {
  return value === undefined || value === null ? null : sql.json(value);
}
