import { type FastifyInstance, type FastifyRequest } from "fastify";
import { findLastEnd, hasRecordPoint, type RecordPoint } from "../../store/turns/load-turns-after.ts";
import { type SessionRecord } from "../../store/sessions/sessions.ts";
import { parseEventId } from "../events/stored-events.ts";
import { type EventSource } from "../events/event-source.ts";
import { refuse, toRefusal } from "../access/refuse.ts";
import { type LivekitKeys, type Refusal, type RoomAccess } from "../access/room-access.ts";
import { roomAccess, roomGuard } from "../access/room-guard.ts";
import { findRoomSession, hasId } from "../access/room-session.ts";
import { feedStream } from "../events/session-feed.ts";
import { type SseStreams } from "../sse/sse-streams.ts";

export interface EventOptions {
  readonly livekit: LivekitKeys;
  readonly source: EventSource;
  readonly streams: SseStreams;
}

const NO_SESSION: Refusal = { status: 404, error: "There is no such session in the token's room" };

/**
 * `GET /session`: the session of the token's room. `GET /session/{id}/events`: what happens in it, as server-sent
 * events (docs/events.md). What lies outside the token's room is as if it were not there.
 */
export function eventRoutes(app: FastifyInstance, { livekit, source, streams }: EventOptions): void {
  const guard = roomGuard(livekit);

  app.get("/session", guard, async (request, reply) => {
    const access = roomAccess(request);
    const session = await findRoomSession(source.sql, access).catch(toRefusal);
    if (!session || "error" in session) return refuse(reply, session ?? NO_SESSION);
    const { id, conversationId, room } = session;
    return reply.header("cache-control", "no-store").send({ id, conversationId, room });
  });

  app.get<{ Params: { id: string } }>(
    "/session/:id/events",
    { ...guard, exposeHeadRoute: false },
    async (request, reply) => {
      const access = roomAccess(request);
      const place = streams.take(access);
      if ("error" in place) return refuse(reply, place);
      const found = await openTalk(request, { source, access }).catch((error: unknown) => {
        place.leave();
        return toRefusal(error);
      });
      if ("error" in found || reply.raw.destroyed) {
        place.leave();
        return refuse(reply, "error" in found ? found : NO_SESSION);
      }
      const stream = place.open(reply);
      const { identity } = access;
      feedStream({ source, stream, sessionId: found.session.id, identity, after: found.after }).catch(
        (error: unknown) => {
          request.log.error({ error }, "an event stream failed");
          stream.cut();
        },
      );
      return reply;
    },
  );
}

async function openTalk(
  request: FastifyRequest<{ Params: { id: string } }>,
  { source, access }: { readonly source: EventSource; readonly access: RoomAccess },
): Promise<Refusal | { readonly session: SessionRecord; readonly after: RecordPoint }> {
  const session = await findRoomSession(source.sql, access);
  if (!session || !hasId(session, request.params.id)) return NO_SESSION;
  await source.listen();
  const lastEventId = request.headers["last-event-id"];
  if (lastEventId === undefined || lastEventId === "")
    return { session, after: await findLastEnd(source.sql, { sessionId: session.id }) };
  const after = typeof lastEventId === "string" ? parseEventId(lastEventId) : undefined;
  if (!after) return { status: 400, error: "Last-Event-ID: expected an id that this stream has given" };
  if (!(await hasRecordPoint(source.sql, { sessionId: session.id, point: after })))
    return { status: 400, error: "Last-Event-ID: this session has no such event" };
  return { session, after };
}
