import { type IncomingHttpHeaders } from "node:http";
import { isCleanText } from "../../lib/clean-json.ts";
import { TokenVerifier } from "livekit-server-sdk";

/** What a LiveKit token lets its bearer see: one room. */
export interface RoomAccess {
  readonly room: string;
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Why a request is not done. `error` names a field or a header, and holds nothing of what it contained. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 503;
  readonly error: string;
}

/** What tokens are signed with. */
export interface LivekitKeys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

const EXPIRED: Refusal = { status: 401, error: "The token has expired" };

interface TokenSource {
  readonly headers: IncomingHttpHeaders;
  readonly query: unknown;
}

/** Reads the bearer token of a request. One in the URL is refused whatever it is: URLs end up in logs. */
export async function checkRoomToken(
  { headers, query }: TokenSource,
  { apiKey, apiSecret }: LivekitKeys,
): Promise<RoomAccess | Refusal> {
  if (typeof query === "object" && query !== null && ("token" in query || "access_token" in query))
    return { status: 401, error: "A token in the URL is not taken: send it as Authorization: Bearer" };
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) return { status: 401, error: "Authorization: expected Bearer and a LiveKit token" };
  try {
    const claims = await new TokenVerifier(apiKey, apiSecret).verify(token);
    const { sub: identity, video, exp = 0 } = claims;
    if (identity === undefined || identity === "" || video?.roomJoin !== true || !video.room)
      return { status: 403, error: "The token does not let its bearer join a room" };
    if (!isCleanText(identity) || !isCleanText(video.room))
      return { status: 403, error: "The token names a participant or a room that cannot be" };
    const expiresAt = exp * 1_000;
    // The verifier grants ten seconds more, in which a stream would be opened only to be ended.
    if (expiresAt <= Date.now()) return EXPIRED;
    return { room: video.room, identity, expiresAt };
  } catch (error) {
    const isExpired = error instanceof Error && "code" in error && error.code === "ERR_JWT_EXPIRED";
    return isExpired ? EXPIRED : { status: 401, error: "The token is not valid here" };
  }
}
