import { z } from "zod";
import type { Sql } from "../../store/database/pool.ts";
import { findLastEnd, hasRecordPoint, type RecordPoint } from "../../store/turns/load-turns-after.ts";
import { requireRoomSession } from "../access/room-access.ts";
import { feedStream } from "../events/session-feed.ts";
import { parseEventId } from "../events/stored-events.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import type { SseStream } from "../sse/sse-stream.ts";
import { pathId } from "../zod-types.ts";

/** `GET /session/{id}/events`: the events of the session in the token's room, as an SSE stream (docs/events.md). */
export const eventRoutes: RoomRoutes = (app, { sql, source, streams }) => {
  const schema = { params: z.object({ id: pathId }) };

  app.get("/session/:id/events", { schema, exposeHeadRoute: false }, async (request, reply) => {
    const { access, params, headers } = request;
    const begin = async () => {
      const { id: sessionId } = await requireRoomSession(sql, access, params.id);
      await source.listen();
      const after = await findStart(sql, sessionId, headers["last-event-id"]);
      const { identity } = access;
      return (stream: SseStream) => feedStream({ source, stream, sessionId, identity, after });
    };
    return streams.answer(request, reply, { begin });
  });
};

/** Returns where the reader stopped or, without an id, the end of the last turn. */
async function findStart(sql: Sql, sessionId: string, lastEventId: unknown): Promise<RecordPoint> {
  if (lastEventId === undefined || lastEventId === "") return findLastEnd(sql, { sessionId });
  const point = typeof lastEventId === "string" ? parseEventId(lastEventId) : undefined;
  if (!point) throw new HttpError(400, "Last-Event-ID: expected an id from this stream");
  if (await hasRecordPoint(sql, { sessionId, point })) return point;
  throw new HttpError(400, "Last-Event-ID: this session has no such event");
}
