import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { healthRoutes, type ReadyCheck } from "./health-routes.ts";
import { sendError } from "./send-error.ts";
import { tokenRoutes, type TokenAccess } from "./token-routes.ts";

export interface HttpOptions {
  readonly logger: FastifyBaseLogger;
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** Where participants reach LiveKit. */
  readonly publicUrl: string;
  readonly checks: readonly ReadyCheck[];
  readonly token: TokenAccess;
}

const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * The worker's HTTP server, not yet listening. Each `…-routes.ts` adds its own routes. Sends no CORS headers: a page
 * of another origin can read nothing here. `close` also ends connections that are open, streams among them.
 */
export function createHttpServer(options: HttpOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: options.logger,
    // A line a request is noise beside the turns; errors are logged in `sendError`.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: 30_000,
    forceCloseConnections: true,
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `No route ${request.method} ${request.url}` }),
  );
  healthRoutes(app, options.checks);
  tokenRoutes(app, options);
  return app;
}
