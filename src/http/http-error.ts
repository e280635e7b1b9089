import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";

interface HttpErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional fields of the response body. */
  readonly details?: object;
}

/**
 * Thrown by hooks and handlers to reject a request. The error handler sends the response. The message may name a field
 * or a header, but never contains its value.
 */
export class HttpError extends Error {
  readonly statusCode: 400 | 401 | 403 | 404 | 409 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: object;

  constructor(
    statusCode: HttpError["statusCode"],
    message: string,
    { headers = {}, details = {} }: HttpErrorOptions = {},
  ) {
    super(message);
    this.name = new.target.name;
    this.statusCode = statusCode;
    this.headers = headers;
    this.details = details;
  }
}

/** A header for temporary errors: the client may retry after five seconds. */
export const RETRY_SOON = { "retry-after": "5" };

/** Returns the response to an error, or `undefined` for a bug. An unreachable database is a 503. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (!(error instanceof AppError) || error.code !== "unavailable") return undefined;
  return new HttpError(503, "The database is unavailable: try again later", { headers: RETRY_SOON });
}

const toOwnBody = ({ message, details }: HttpError): object => ({ error: message, ...details });

/**
 * Returns a handler that tells clients what is wrong with their request. Bugs are logged and reported with a fixed
 * message.
 */
export function createErrorHandler(toBody: (error: HttpError) => object = toOwnBody) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const known = toHttpError(error);
    if (known) return reply.code(known.statusCode).headers(known.headers).send(toBody(known));
    const { statusCode = 500 } = error;
    if (statusCode < 500) return reply.code(statusCode).send({ error: error.message });
    request.log.error({ error, route: request.routeOptions.url }, "request failed");
    return reply.code(500).send({ error: "Internal error" });
  };
}
