import type { FastifySchemaCompiler, FastifyTypeProvider } from "fastify";
import { z } from "zod";
import { cleanText } from "../lib/clean-json.ts";
import { HttpError } from "./http-error.ts";

/** Types `request.params` and `request.body` by a route's zod schemas (docs/decisions/own-zod-types-for-routes.md). */
export interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
}

/** An id in a path. What PostgreSQL cannot store is replaced; no stored id has such characters, so it is not found. */
export const pathId = z.string().transform(cleanText);

type Problems = readonly z.core.$ZodIssue[];

/** Makes Fastify check requests by a route's zod schemas. A request without a body has the body `null` there. */
export function zodValidator(toText: (problems: Problems) => string = nameFirst): FastifySchemaCompiler<unknown> {
  return ({ schema }) =>
    (value) => {
      const { error, data } = (schema as z.ZodType).safeParse(value);
      return error ? { error: new HttpError(400, toText(error.issues)) } : { value: data };
    };
}

/** The same check for what Fastify has not read: messages of RPC. @throws {HttpError} 400 */
export function parseOrRefuse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, nameFirst(parsed.error.issues));
}

/** Every field that is wrong, and what was expected of it. */
export function nameAll(problems: Problems): string {
  return problems.map(describeProblem).join("; ");
}

function nameFirst(problems: Problems): string {
  return nameAll(problems.slice(0, 1));
}

function describeProblem(problem: z.core.$ZodIssue): string {
  if (problem.code === "unrecognized_keys") return `${problem.keys.join(", ")}: unknown field`;
  return `${problem.path.join(".") || "body"}: ${problem.message}`;
}
