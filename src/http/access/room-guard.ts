import { type FastifyReply, type FastifyRequest, type onRequestAsyncHookHandler } from "fastify";
import { cleanText } from "../../lib/clean-json.ts";
import { refuse } from "./refuse.ts";
import { checkRoomToken, type LivekitKeys, type Refusal, type RoomAccess } from "./room-access.ts";

type RefuseAs = (reply: FastifyReply, refusal: Refusal, request: FastifyRequest) => FastifyReply;

const accesses = new WeakMap<FastifyRequest, RoomAccess>();

/**
 * Options of a route that is for whoever holds a room's token. The token comes first: to somebody without one, not
 * even the request's body is judged. Ids in the path are made clean, as those of messages are: nothing has such an id.
 */
export function roomGuard(
  livekit: LivekitKeys,
  refuseAs: RefuseAs = refuse,
): { readonly onRequest: onRequestAsyncHookHandler } {
  const onRequest: onRequestAsyncHookHandler = async (request, reply) => {
    const access = await checkRoomToken(request, livekit);
    if ("error" in access) return refuseAs(reply, access, request);
    const params = request.params as Record<string, string>;
    for (const [name, value] of Object.entries(params)) params[name] = cleanText(value);
    accesses.set(request, access);
  };
  return { onRequest };
}

/** What the token of a guarded request lets its bearer see. */
export function roomAccess(request: FastifyRequest): RoomAccess {
  const access = accesses.get(request);
  if (!access) throw new Error("The route has no guard");
  return access;
}
