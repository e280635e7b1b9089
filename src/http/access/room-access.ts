import type { FastifyInstance } from "fastify";
import { TokenVerifier } from "livekit-server-sdk";
import type { IncomingHttpHeaders } from "node:http";
import { isCleanText } from "../../lib/clean-json.ts";
import { isRecord } from "../../lib/json.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import type { Sql } from "../../store/database/pool.ts";
import { loadSession, type SessionRecord } from "../../store/sessions/sessions.ts";
import { HttpError } from "../http-error.ts";

/** What a LiveKit token allows its bearer: access to one room as one participant. */
export interface RoomAccess {
  readonly room: string;
  readonly identity: string;
  /** Whether the bearer may hear and read others in the room. */
  readonly maySubscribe: boolean;
  /** Whether the bearer moderates the room. */
  readonly isAdmin: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

declare module "fastify" {
  interface FastifyRequest {
    /** What the request's token allows. Set only on routes that `requireRoomToken` guards. */
    access: RoomAccess;
  }
}

/** LiveKit's API key and secret, which sign tokens. */
export interface TokenKeys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/**
 * Requires a room token on all routes of this scope and sets `request.access`. The token is checked before the body is
 * read, so a caller without a valid token gets no other error. Forbids caching of all responses, including errors.
 */
export function requireRoomToken(
  scope: Pick<FastifyInstance, "decorateRequest" | "addHook">,
  livekit: TokenKeys,
): void {
  scope.decorateRequest("access");
  scope.addHook("onRequest", async (request, reply) => {
    reply.header("cache-control", "no-store");
    request.access = await checkRoomToken(request, livekit);
  });
}

const EXPIRED = "The token has expired";

interface TokenSource {
  readonly headers: IncomingHttpHeaders;
  readonly query: unknown;
}

/**
 * Reads a request's bearer token. Always rejects a token in the URL, because URLs are logged.
 *
 * @throws {HttpError} 401, 403
 */
export async function checkRoomToken(
  { headers, query }: TokenSource,
  { apiKey, apiSecret }: TokenKeys,
): Promise<RoomAccess> {
  if (typeof query === "object" && query !== null && ("token" in query || "access_token" in query))
    throw unauthorized("A token in the URL is not accepted: send it as Authorization: Bearer");
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) throw unauthorized("Authorization: expected Bearer and a LiveKit token");
  const claims = await new TokenVerifier(apiKey, apiSecret).verify(token).catch((error: unknown) => {
    const isExpired = error instanceof Error && "code" in error && error.code === "ERR_JWT_EXPIRED";
    throw unauthorized(isExpired ? EXPIRED : "The token is not valid for this server");
  });
  // A valid signature says nothing about types: a claim can be any JSON value.
  const {
    sub: identity,
    exp,
    video,
  } = claims as { readonly sub?: unknown; readonly exp?: unknown; readonly video?: unknown };
  const { roomJoin, room, canSubscribe, roomAdmin } = isRecord(video) ? video : {};
  if (roomJoin !== true || identity === undefined || identity === "" || room === undefined || room === "")
    throw new HttpError(403, "The token does not allow joining a room");
  if (typeof identity !== "string" || typeof room !== "string" || !isCleanText(identity) || !isCleanText(room))
    throw new HttpError(403, "The token contains an invalid participant or room name");
  const expiresAt = typeof exp === "number" ? exp * 1_000 : 0;
  // The verifier accepts a token for ten seconds after its expiry, but a stream opened then would end at once.
  if (expiresAt <= Date.now()) throw unauthorized(EXPIRED);
  return { room, identity, maySubscribe: canSubscribe !== false, isAdmin: roomAdmin === true, expiresAt };
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, { headers: { "www-authenticate": "Bearer" } });
}

/** Returns the session of the token's room, or `undefined` if the room has none yet. */
export async function findRoomSession(sql: Sql, { room }: RoomAccess): Promise<SessionRecord | undefined> {
  const session = await loadSession(sql, { conversationId: conversationIdOfRoom(room) });
  return session?.room === room ? session : undefined;
}

/** Whether `id` is the session's own id or its conversation's id. */
export function hasId(session: SessionRecord, id: string): boolean {
  return id === session.id || id === session.conversationId;
}

/** @throws {HttpError} 403 if the token does not allow its bearer to hear and read others */
export function requireSubscriber({ maySubscribe }: RoomAccess): void {
  if (!maySubscribe) throw new HttpError(403, "The token does not allow subscribing to other participants");
}

/**
 * Returns the session of the token's room, for routes that show its content. `id` must refer to this session. Any other
 * session is treated as if it did not exist.
 *
 * @throws {HttpError} 403, 404
 */
export async function requireRoomSession(sql: Sql, access: RoomAccess, id: string): Promise<SessionRecord> {
  requireSubscriber(access);
  const session = await findRoomSession(sql, access);
  if (session && hasId(session, id)) return session;
  throw new HttpError(404, "There is no such session in the token's room");
}
