import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { eventRoutes } from "./routes/event-routes.ts";
import { type EditGuard } from "../session/permission/judge-call.ts";
import { type EventSource } from "./events/event-source.ts";
import { grantRoutes } from "./routes/grant-routes.ts";
import { healthRoutes, type ReadyCheck } from "./routes/health-routes.ts";
import { answerThisMachineOnly } from "./access/loopback.ts";
import { metricsRoutes } from "./routes/metrics-routes.ts";
import { opencodeEventRoutes } from "./opencode/opencode-event-routes.ts";
import { opencodeRoutes } from "./opencode/opencode-routes.ts";
import { permissionRoutes } from "./routes/permission-routes.ts";
import { permissionService } from "./rpc/permission-service.ts";
import { sendError } from "./access/send-error.ts";
import { type SseTimes } from "./sse/sse-stream.ts";
import { SseStreams } from "./sse/sse-streams.ts";
import { tokenRoutes, type TokenAccess } from "./routes/token-routes.ts";

export interface HttpOptions {
  readonly logger: FastifyBaseLogger;
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** Where participants reach LiveKit. */
  readonly publicUrl: string;
  readonly checks: readonly ReadyCheck[];
  readonly token: TokenAccess;
  /** What `GET /metrics` shows; without it there is no such route. */
  readonly metrics?: () => string;
  /** Without it there are no routes that show or change a session. The caller closes it. */
  readonly events?: { readonly source: EventSource; readonly times?: SseTimes; readonly edits: EditGuard };
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
    // A conversation's id is a room's name, percent-encoded.
    routerOptions: { maxParamLength: 1_024 },
    requestTimeout: 30_000,
    forceCloseConnections: true,
  });
  readEmptyJson(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `No route ${request.method} ${request.url}` }),
  );
  // Of the other routes some are open as well, and show what is going on here.
  if (options.token.isOpen) answerThisMachineOnly(app);
  healthRoutes(app, options.checks);
  tokenRoutes(app, options);
  if (options.metrics) metricsRoutes(app, options.metrics);
  if (options.events) {
    const { source, edits, times = {} } = options.events;
    const streams = new SseStreams(app, times);
    const { livekit, logger } = options;
    const { sql } = source;
    eventRoutes(app, { livekit, source, streams });
    permissionRoutes(app, { livekit, sql, edits });
    grantRoutes(app, { livekit, sql });
    opencodeRoutes(app, { livekit, sql, edits });
    opencodeEventRoutes(app, { livekit, source, streams });
    app.register((scope, _options, done) => {
      // Connect reads bodies by itself, and puts its own parser there.
      scope.removeContentTypeParser("application/json");
      fastifyConnectPlugin(scope, { routes: permissionService({ livekit, sql, logger }), grpc: false }, done);
    });
  }
  return app;
}

/** Clients that name JSON in every request have no body in some: that is none, and no broken one. */
function readEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body: string, done) =>
    body === "" ? done(null) : parse(request, body, done),
  );
}
