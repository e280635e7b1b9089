import { z } from "zod";
import { eraseParticipant, findServedRoom } from "../../store/removal/erase-participant.ts";
import type { RoomRoutes } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import { pathId } from "../zod-types.ts";

/** `DELETE /participant/{identity}`: removes everything stored about the token's identity, in all rooms. */
export const participantRoutes: RoomRoutes = (app, { sql }) => {
  const schema = { params: z.object({ identity: pathId }) };
  app.delete("/participant/:identity", { schema }, async ({ access: { identity }, params }) => {
    if (params.identity !== identity) throw new HttpError(403, "The token is for another participant");
    const room = await findServedRoom(sql, { identity });
    if (room !== undefined)
      throw new HttpError(
        409,
        `The session in room ${JSON.stringify(room)} is still open: try again after everybody has left the room`,
      );
    return eraseParticipant(sql, { identity });
  });
};
