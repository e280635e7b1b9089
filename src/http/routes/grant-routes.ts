import { z } from "zod";
import { deleteGrant, listGrants } from "../../store/permissions/grants.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

/** `GET /permissions/grants`, `DELETE /permissions/grants/{id}`: the grants of the token's identity in all rooms. */
export const grantRoutes: RoomRoutes = (app, { sql }) => {
  app.get("/permissions/grants", async ({ access: { identity } }) => listGrants(sql, { identity }));

  const schema = { params: z.object({ id: pathId }) };
  app.delete("/permissions/grants/:id", { schema }, async ({ access: { identity }, params }) => {
    if (await deleteGrant(sql, { identity, grantId: params.id })) return true;
    throw new HttpError(404, "There is no such grant");
  });
};
