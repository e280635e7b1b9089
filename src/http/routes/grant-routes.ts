import { type FastifyInstance } from "fastify";
import { deleteGrant, listGrants } from "../../store/permissions/grants.ts";
import { type PermissionRouteOptions } from "./permission-routes.ts";
import { refuse, toRefusal } from "../access/refuse.ts";
import { roomAccess, roomGuard } from "../access/room-guard.ts";

/** What the token's identity has allowed for good, in whatever room: `GET` and `DELETE /permissions/grants`. */
export function grantRoutes(app: FastifyInstance, { livekit, sql }: Omit<PermissionRouteOptions, "edits">): void {
  const guard = roomGuard(livekit);

  app.get("/permissions/grants", guard, async (request, reply) => {
    const { identity } = roomAccess(request);
    const grants = await listGrants(sql, { identity }).catch(toRefusal);
    if ("error" in grants) return refuse(reply, grants);
    return reply.header("cache-control", "no-store").send(grants);
  });

  app.delete<{ Params: { id: string } }>("/permissions/grants/:id", guard, async (request, reply) => {
    const { identity } = roomAccess(request);
    const isDeleted = await deleteGrant(sql, { identity, grantId: request.params.id }).catch(toRefusal);
    if (typeof isDeleted === "object") return refuse(reply, isDeleted);
    if (!isDeleted) return refuse(reply, { status: 404, error: "There is no such grant" });
    return reply.header("cache-control", "no-store").send(true);
  });
}
