import { readFileSync, readdirSync } from "node:fs";
import { type AnySchema, Ajv2020 } from "ajv/dist/2020.js";
import type { Representation } from "../../../src/telemetry/representation/representation.ts";

const FOLDER = "schemas/genai";
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, formats: { "date-time": RFC_3339 } });
for (const file of readdirSync(FOLDER)) ajv.addSchema(readSchema(file), file);

export function readSchema(file: string): AnySchema {
  return JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8")) as AnySchema;
}

/** Returns the errors that a schema in `schemas/genai/` finds in a value. */
export function problemsBy(schema: string, value: unknown): string[] {
  const validate = ajv.getSchema(schema);
  if (validate === undefined) throw new TypeError(`there is no schema ${schema}`);
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

/** Returns the errors of a part. The part must match exactly one of the kinds that its representation allows. */
export function problemsOfPart(part: unknown, representation: Representation): string[] {
  return problemsBy(`message-part.json#/$defs/${representation}`, part);
}
