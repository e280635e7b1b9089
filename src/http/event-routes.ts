import { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";
import { conversationIdOfRoom } from "../protocol/conversation-id.ts";
import { findLastEnd, hasRecordPoint } from "../store/find-record-point.ts";
import { loadSession } from "../store/load-session.ts";
import { type RecordPoint } from "../store/load-turns-after.ts";
import { type SessionRecord } from "../store/session-record.ts";
import { parseEventId } from "./event-id.ts";
import { type EventSource } from "./event-source.ts";
import { checkRoomToken, type RoomAccess } from "./room-access.ts";
import { feedStream } from "./session-feed.ts";
import { SseStream, type SseTimes } from "./sse-stream.ts";
import { StreamLimit } from "./stream-limit.ts";

export interface EventOptions {
  readonly livekit: { readonly apiKey: string; readonly apiSecret: string };
  readonly source: EventSource;
  readonly times?: SseTimes;
}

interface Answer {
  readonly status: number;
  readonly error: string;
}

const MAX_STREAMS_OF_ONE = 5;
const MAX_STREAMS = 1_000;
const NO_SESSION: Answer = { status: 404, error: "There is no such session in the token's room" };
const NO_STORE: Answer = { status: 503, error: "The record cannot be read now" };
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * `GET /session`: the session of the token's room. `GET /session/{id}/events`: what happens in it, as server-sent
 * events (docs/events.md). What lies outside the token's room is as if it were not there.
 */
export function eventRoutes(app: FastifyInstance, { livekit, source, times = {} }: EventOptions): void {
  const limit = new StreamLimit(MAX_STREAMS_OF_ONE, MAX_STREAMS);
  const streams = new Set<SseStream>();
  app.addHook("preClose", async () => {
    for (const stream of streams) stream.end();
  });

  app.get("/session", async (request, reply) => {
    const access = await checkRoomToken(request, livekit);
    if (!("room" in access)) return refuse(reply, access);
    const session = await findSession(source, access).catch(toAnswer);
    if (!session || "error" in session) return refuse(reply, session ?? NO_SESSION);
    const { id, conversationId, room } = session;
    return reply.header("cache-control", "no-store").send({ id, conversationId, room });
  });

  app.get<{ Params: { id: string } }>("/session/:id/events", { exposeHeadRoute: false }, async (request, reply) => {
    const access = await checkRoomToken(request, livekit);
    if (!("room" in access)) return refuse(reply, access);
    const leave = limit.take(`${access.room}\n${access.identity}`);
    if (leave === "one")
      return refuse(reply, { status: 429, error: `At most ${MAX_STREAMS_OF_ONE} streams a participant` });
    if (leave === "all") return refuse(reply, { status: 503, error: "Too many streams are open" });
    const found = await openTalk(request, { source, access }).catch((error: unknown) => {
      leave();
      return toAnswer(error);
    });
    if ("error" in found || reply.raw.destroyed) {
      leave();
      return refuse(reply, "error" in found ? found : NO_SESSION);
    }
    reply.hijack();
    const stream = new SseStream(reply.raw, times);
    streams.add(stream);
    const expiry = setTimeout(() => stream.end(), Math.min(access.expiresAt - Date.now(), MAX_TIMER_MS));
    stream.closed.addEventListener("abort", () => {
      clearTimeout(expiry);
      streams.delete(stream);
      leave();
    });
    feedStream({ source, stream, sessionId: found.session.id, after: found.after }).catch((error: unknown) => {
      request.log.error({ error }, "an event stream failed");
      stream.cut();
    });
    return reply;
  });
}

async function openTalk(
  request: FastifyRequest<{ Params: { id: string } }>,
  { source, access }: { readonly source: EventSource; readonly access: RoomAccess },
): Promise<Answer | { readonly session: SessionRecord; readonly after: RecordPoint }> {
  const { id } = request.params;
  const session = await findSession(source, access);
  if (!session || (id !== session.id && id !== session.conversationId)) return NO_SESSION;
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

/** The session of the token's room, if that has one. */
async function findSession({ sql }: EventSource, { room }: RoomAccess): Promise<SessionRecord | undefined> {
  const session = await loadSession(sql, { conversationId: conversationIdOfRoom(room) });
  return session?.room === room ? session : undefined;
}

function toAnswer(error: unknown): Answer {
  if (error instanceof AppError && error.code === "unavailable") return NO_STORE;
  throw error;
}

function refuse(reply: FastifyReply, { status, error }: Answer): FastifyReply {
  if (status === 401) reply.header("www-authenticate", "Bearer");
  if (status === 429 || status === 503) reply.header("retry-after", "5");
  return reply.code(status).header("cache-control", "no-store").send({ error });
}
