import { Readable } from "node:stream";
import { z } from "zod";
import { requireRoomSession } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { writeTranscript } from "../transcript/write-transcript.ts";
import { pathId } from "../zod-types.ts";

/** How long a reader may read nothing before it is disconnected. */
const STALLED_MS = 30_000;
const TYPES = { json: "application/json; charset=utf-8", markdown: "text/markdown; charset=utf-8" } as const;

/**
 * `GET /session/{id}/transcript`: everything that was said and done in the session of the token's room
 * (docs/transcripts.md).
 */
export const transcriptRoutes: RoomRoutes = (app, { sql, streams }) => {
  const schema = {
    params: z.object({ id: pathId }),
    querystring: z.object({ format: z.enum(["json", "markdown"]).default("json") }),
  };

  app.get("/session/:id/transcript", { schema, exposeHeadRoute: false }, async (request, reply) => {
    const { access, params, query } = request;
    const leave = streams.take(access);
    // The reader may have disconnected during the token check. In that case, no `close` event follows.
    if (reply.raw.destroyed) leave();
    else reply.raw.once("close", leave);
    const session = await requireRoomSession(sql, access, params.id);
    reply.raw.setTimeout(STALLED_MS);
    // An error midway breaks the connection, so that no reader mistakes a part for the whole.
    const wanted = { sql, session, showsOriginals: access.isAdmin };
    const text = Readable.from(writeTranscript(query.format, wanted), { objectMode: false });
    return reply.type(TYPES[query.format]).send(text);
  });
};
