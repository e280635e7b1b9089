import { type FastifyInstance } from "fastify";
import { deleteGrant } from "../store/delete-grant.ts";
import { listGrants } from "../store/list-grants.ts";
import { type PermissionRouteOptions } from "./permission-routes.ts";
import { refuse, toRefusal } from "./refuse.ts";
import { checkRoomToken } from "./room-access.ts";

/** What the token's identity has allowed for good, in whatever room: `GET` and `DELETE /permissions/grants`. */
export function grantRoutes(app: FastifyInstance, { livekit, sql }: Omit<PermissionRouteOptions, "edits">): void {
  app.get("/permissions/grants", async (request, reply) => {
    const access = await checkRoomToken(request, livekit);
    if (!("room" in access)) return refuse(reply, access);
    const grants = await listGrants(sql, { identity: access.identity }).catch(toRefusal);
    if ("error" in grants) return refuse(reply, grants);
    return reply.header("cache-control", "no-store").send(grants);
  });

  app.delete<{ Params: { id: string } }>("/permissions/grants/:id", async (request, reply) => {
    const access = await checkRoomToken(request, livekit);
    if (!("room" in access)) return refuse(reply, access);
    const { identity } = access;
    const isDeleted = await deleteGrant(sql, { identity, grantId: request.params.id }).catch(toRefusal);
    if (typeof isDeleted === "object") return refuse(reply, isDeleted);
    if (!isDeleted) return refuse(reply, { status: 404, error: "There is no such grant" });
    return reply.header("cache-control", "no-store").send(true);
  });
}
