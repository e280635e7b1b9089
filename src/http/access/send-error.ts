import { type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";

/** The only place where an error becomes an HTTP answer: the caller's own mistakes are named, ours stay in the log. */
export function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode = 500 } = error;
  if (statusCode < 500) return reply.code(statusCode).send({ error: error.message });
  request.log.error({ error, route: request.routeOptions.url }, "request failed");
  return reply.code(500).send({ error: "Internal error" });
}
