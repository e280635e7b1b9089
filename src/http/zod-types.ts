import type { FastifySchemaCompiler, FastifyTypeProvider } from "fastify";
import { z } from "zod";
import { cleanText } from "../lib/clean-json.ts";
import { HttpError } from "./http-error.ts";

/**
 * Derives the types of `request.params` and `request.body` from a route's zod schemas
 * (docs/decisions/own-zod-types-for-routes.md).
 */
export interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
}

/** An id in a path. Characters that PostgreSQL cannot store are replaced, so such an id is never found. */
export const pathId = z.string().transform(cleanText);

type Problems = readonly z.core.$ZodIssue[];

/** Makes Fastify validate requests with a route's zod schemas. Without a body, the schema receives `null`. */
export function zodValidator(toText: (problems: Problems) => string = nameFirst): FastifySchemaCompiler<unknown> {
  return ({ schema }) =>
    (value) => {
      const { error, data } = (schema as z.ZodType).safeParse(value);
      return error ? { error: new HttpError(400, toText(error.issues)) } : { value: data };
    };
}

/** Validates an RPC message like a request, because Fastify does not read RPC messages. @throws {HttpError} 400 */
export function parseOrRefuse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, nameFirst(parsed.error.issues));
}

/** Returns all invalid fields, each with what was expected. */
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
