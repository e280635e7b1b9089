import type { FastifySchemaCompiler, FastifyTypeProvider } from "fastify";
import { z } from "zod";
import { fieldsAt } from "../lib/checks/describe-issue.ts";
import { didYouMean } from "../lib/checks/did-you-mean.ts";
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
export function zodValidator(toText: typeof nameAll = nameFirst): FastifySchemaCompiler<unknown> {
  return ({ schema }) =>
    (value) => {
      const { error, data } = (schema as z.ZodType).safeParse(value);
      return error ? { error: new HttpError(400, toText(error.issues, schema as z.ZodType)) } : { value: data };
    };
}

/** Validates an RPC message like a request, because Fastify does not read RPC messages. @throws {HttpError} 400 */
export function parseOrRefuse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, nameFirst(parsed.error.issues, schema));
}

/** Returns all invalid fields, each with what was expected. */
export function nameAll(problems: Problems, schema: z.ZodType): string {
  return problems.map((problem) => describeProblem(problem, schema)).join("; ");
}

function nameFirst(problems: Problems, schema: z.ZodType): string {
  return nameAll(problems.slice(0, 1), schema);
}

function describeProblem(problem: z.core.$ZodIssue, schema: z.ZodType): string {
  if (problem.code === "unrecognized_keys") {
    const known = fieldsAt(schema, problem.path);
    return problem.keys.map((key) => `${key}: unknown field${didYouMean(key, known).replace(" ", ". ")}`).join("; ");
  }
  return `${problem.path.join(".") || "body"}: ${problem.message}`;
}
