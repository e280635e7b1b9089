import { type FastifyReply } from "fastify";
import { AppError } from "../../errors/app-error.ts";
import { type Refusal } from "./room-access.ts";

export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return refuseWith(reply, refusal, { error: refusal.error });
}

/** The same with a body of another shape. */
export function refuseWith(reply: FastifyReply, { status }: Refusal, body: object): FastifyReply {
  if (status === 401) reply.header("www-authenticate", "Bearer");
  if (status === 429 || status === 503) reply.header("retry-after", "5");
  return reply.code(status).header("cache-control", "no-store").send(body);
}

/** A database that is away is no fault of the request; anything else is a bug and goes on. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof AppError && error.code === "unavailable")
    return { status: 503, error: "The record cannot be read now" };
  throw error;
}
