import { type FastifySchemaCompiler, type FastifyTypeProvider } from "fastify";
import { z } from "zod";
import { cleanText } from "../lib/clean-json.ts";
import { HttpError } from "./http-error.ts";

/** Gives `request.params` and `request.body` the types of a route's zod schemas (docs/decisions/own-zod-types-for-routes.md). */
export interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
}

/** An id in a path. It is made clean, as ids in messages are; nothing has an id that had to be. */
export const pathId = z.string().transform(cleanText);

type Problems = readonly z.core.$ZodIssue[];

/** Makes Fastify check a route's schemas. No body at all is `null` to them. */
export function zodValidator(toText: (problems: Problems) => string = nameFirst): FastifySchemaCompiler<unknown> {
  return ({ schema }) =>
    (value) => {
      const { error, data } = (schema as z.ZodType).safeParse(value);
      return error ? { error: new HttpError(400, toText(error.issues)) } : { value: data };
    };
}

/** The same for what did not come by HTTP. @throws {HttpError} 400 */
export function parseOrRefuse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, nameFirst(parsed.error.issues));
}

/** Every field that is wrong, and what was expected of it. */
export function nameAll(problems: Problems): string {
  return problems.map(describe).join("; ");
}

function nameFirst(problems: Problems): string {
  return nameAll(problems.slice(0, 1));
}

function describe(problem: z.core.$ZodIssue): string {
  if (problem.code === "unrecognized_keys") return `${problem.keys.join(", ")}: expected no such field`;
  return `${problem.path.join(".") || "body"}: ${problem.message}`;
}
