import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EditGuard } from "../session/permission/judge-call.ts";
import type { Budget } from "../session/spending/budget.ts";
import type { Sql } from "../store/database/pool.ts";
import type { EventSource } from "./events/event-source.ts";
import type { SseStreams } from "./sse/sse-streams.ts";
import type { ZodTypes } from "./zod-types.ts";

export type HttpApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypes>;

/** What the routes that show or change a session need. */
export interface RoomParts {
  readonly sql: Sql;
  readonly source: EventSource;
  readonly streams: SseStreams;
  readonly edits: EditGuard;
  /** How long a permission request stays open. */
  readonly permissionWaitMs: number;
  readonly budget: Budget;
}

/** Adds routes that need a room token. `request.access` contains what the token allows. */
export type RoomRoutes = (app: HttpApp, parts: RoomParts) => void;
