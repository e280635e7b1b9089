import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { fastify, LogController, type FastifyBaseLogger } from "fastify";
import { describeFault } from "../lib/clean-json.ts";
import { findJsonLoss } from "../lib/checks/json-loss.ts";
import type { EditGuard } from "../session/permission/judge-call.ts";
import type { Budget } from "../session/spending/budget.ts";
import { answerThisMachineOnly } from "./access/loopback.ts";
import { requireRoomToken } from "./access/room-access.ts";
import type { EventSource } from "./events/event-source.ts";
import type { HttpApp, RoomParts, RoomRoutes } from "./http-app.ts";
import { createErrorHandler, HttpError } from "./http-error.ts";
import { opencodeRoutes } from "./opencode/opencode-routes.ts";
import { callRoutes } from "./routes/call-routes.ts";
import { eventRoutes } from "./routes/event-routes.ts";
import { grantRoutes } from "./routes/grant-routes.ts";
import { healthRoutes, type ReadyCheck } from "./routes/health-routes.ts";
import { metricsRoutes } from "./routes/metrics-routes.ts";
import type { PageFile } from "./page/page-files.ts";
import { pageRoutes } from "./routes/page-routes.ts";
import { permissionRoutes } from "./routes/permission-routes.ts";
import { scenarioRoutes } from "./routes/scenario-routes.ts";
import { sessionRoutes } from "./routes/session-routes.ts";
import { transcriptRoutes } from "./routes/transcript-routes.ts";
import { tokenRoutes, type TokenAccess } from "./routes/token-routes.ts";
import { permissionService } from "./rpc/permission-service.ts";
import { memoryRoutes } from "./routes/memory-routes.ts";
import { participantRoutes } from "./routes/participant-routes.ts";
import { usageRoutes } from "./routes/usage-routes.ts";
import type { SseTimes } from "./sse/sse-stream.ts";
import { SseStreams } from "./sse/sse-streams.ts";
import { zodValidator, type ZodTypes } from "./zod-types.ts";

/**
 * All routes that need a room token. The RPC service checks tokens itself. To add a route, write a file in `routes/`
 * and list it here. Its queries belong in `src/store/`.
 */
const ROOM_ROUTES: readonly RoomRoutes[] = [
  sessionRoutes,
  eventRoutes,
  transcriptRoutes,
  callRoutes,
  scenarioRoutes,
  usageRoutes,
  memoryRoutes,
  participantRoutes,
  permissionRoutes,
  grantRoutes,
  opencodeRoutes,
];

interface HttpOptions {
  readonly logger: FastifyBaseLogger;
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** LiveKit's URL for participants. */
  readonly publicUrl: string;
  readonly checks: readonly ReadyCheck[];
  readonly token: TokenAccess;
  /** The page for `GET /`. Without it, the route does not exist. */
  readonly page?: readonly PageFile[];
  /** Renders the body of `GET /metrics`. Without it, the route does not exist. */
  readonly metrics?: () => string;
  /** Without it, there are no routes that show or change a session. The caller closes `source`. */
  readonly events?: {
    readonly source: EventSource;
    readonly times?: SseTimes;
    readonly edits: EditGuard;
    readonly permissionWaitMs: number;
    readonly budget?: Budget;
  };
}

const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * Creates the worker's HTTP server, which is not listening yet. It sends no CORS headers, so pages from other origins
 * cannot read its responses. `close` also ends open connections, including streams.
 */
export function createHttpServer(options: HttpOptions): HttpApp {
  const { logger, livekit, checks, metrics, token, events, page } = options;
  const app = fastify({
    loggerInstance: logger,
    // A line for each request would drown out the turns' lines. The error handler logs errors.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    // Long enough for a percent-encoded conversation id, which may be a room name.
    routerOptions: { maxParamLength: 1_024 },
    requestTimeout: 30_000,
    forceCloseConnections: true,
  }).withTypeProvider<ZodTypes>();
  app.setValidatorCompiler(zodValidator());
  readExactly(app);
  app.setErrorHandler(createErrorHandler());
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `No route ${request.method} ${request.url}` }),
  );
  // Add this before all routes: routes without a token, such as `/metrics`, must be limited to this machine, too.
  if (token.isOpen) answerThisMachineOnly(app);
  healthRoutes(app, checks);
  tokenRoutes(app, options);
  if (page) pageRoutes(app, { files: page, livekitUrl: options.publicUrl });
  if (metrics) metricsRoutes(app, metrics);
  if (!events) return app;
  const { budget = {}, times = {}, ...shown } = events;
  const { sql } = shown.source;
  const parts: RoomParts = { ...shown, sql, budget, streams: new SseStreams(app, times) };
  app.register(async (scope) => {
    requireRoomToken(scope, livekit);
    for (const routes of ROOM_ROUTES) scope.register(async (own) => routes(own, parts));
  });
  app.register((scope, _options, done) => {
    // Connect adds its own body parser.
    scope.removeContentTypeParser("application/json");
    fastifyConnectPlugin(scope, { routes: permissionService({ livekit, sql, logger }), grpc: false }, done);
  });
  return app;
}

/**
 * Rejects a body that `JSON.parse` would change, because edited arguments must run exactly as they were sent. An empty
 * body counts as no body: some clients send `content-type: application/json` with every request.
 */
function readExactly(app: HttpApp): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body: string, done) => {
    if (body === "") return done(null);
    void parse(request, body, (error, value) => {
      const loss = error ? undefined : findJsonLoss(body);
      if (loss) done(new HttpError(400, describeFault(loss.path, loss.why)));
      else done(error, value);
    });
  });
}
