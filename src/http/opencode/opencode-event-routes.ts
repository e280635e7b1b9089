import { type FastifyInstance } from "fastify";
import { type EventOptions } from "../routes/event-routes.ts";
import { opencodeEvent } from "./opencode-events.ts";
import { toOpencodeError } from "./opencode-errors.ts";
import { feedOpencode } from "./opencode-feed.ts";
import { refuseWith } from "../access/refuse.ts";
import { roomAccess, roomGuard } from "../access/room-guard.ts";

/** A heartbeat of opencode's is an event like any other. */
const heartbeat = () => `data: ${JSON.stringify(opencodeEvent("server.heartbeat").data)}`;

/** `GET /event`: the calls and permissions of the token's room, as opencode's clients read them (docs/permissions.md). */
export function opencodeEventRoutes(app: FastifyInstance, { livekit, source, streams }: EventOptions): void {
  const guard = roomGuard(livekit, (reply, refusal) => refuseWith(reply, refusal, toOpencodeError("", refusal)));

  app.get("/event", { ...guard, exposeHeadRoute: false }, async (request, reply) => {
    const access = roomAccess(request);
    const place = streams.take(access);
    if ("error" in place) return refuseWith(reply, place, toOpencodeError("", place));
    const stream = place.open(reply, heartbeat);
    feedOpencode({ source, stream, access }).catch((error: unknown) => {
      request.log.error({ error }, "an event stream failed");
      stream.cut();
    });
    return reply;
  });
}
