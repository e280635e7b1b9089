import { z } from "zod";
import { findRoomSession, requireSubscriber } from "../access/room-access.ts";
import type { RoomRoutes } from "../http-app.ts";
import { createErrorHandler, type HttpError } from "../http-error.ts";
import { answerPermission } from "../permissions/answer-permission.ts";
import { replyBody } from "../permissions/permission-body.ts";
import { loadOpenFor } from "../permissions/redact-permission.ts";
import type { SseStream } from "../sse/sse-stream.ts";
import { pathId } from "../zod-types.ts";
import { opencodeEvent, toOpencodePermission } from "./opencode-events.ts";
import { feedOpencode } from "./opencode-feed.ts";

/** The routes of opencode's own API that its clients use, limited to the token's room (docs/permissions.md). */
export const opencodeRoutes: RoomRoutes = (app, { sql, source, streams, edits }) => {
  app.setErrorHandler(createErrorHandler(toOpencodeError));

  app.get("/permission", async ({ access }) => {
    const session = await findRoomSession(sql, access);
    const open = session ? await loadOpenFor(access.identity, { sql, sessionId: session.id }) : [];
    return open.map(toOpencodePermission);
  });

  const reply = { params: z.object({ requestID: pathId }), body: replyBody };
  app.post("/permission/:requestID/reply", { schema: reply }, async ({ access, params, body: decision }) => {
    const answer = { permissionId: params.requestID, decision, via: "http" } as const;
    await answerPermission({ sql, access, edits, answer });
    return true;
  });

  const replyOfSession = { params: z.object({ sessionID: pathId, requestID: pathId }), body: replyBody };
  app.post(
    "/api/session/:sessionID/permission/:requestID/reply",
    { schema: replyOfSession },
    async ({ access, params, body: decision }, response) => {
      const { requestID: permissionId, sessionID: sessionId } = params;
      await answerPermission({ sql, access, edits, answer: { permissionId, sessionId, decision, via: "http" } });
      return response.code(204).send();
    },
  );

  app.get("/event", { exposeHeadRoute: false }, async (request, response) => {
    const { access } = request;
    requireSubscriber(access);
    const begin = async () => (stream: SseStream) => feedOpencode({ source, stream, access });
    return streams.answer(request, response, { begin, heartbeat });
  });
};

/** opencode's heartbeat is an event rather than a comment. */
const heartbeat = () => `data: ${JSON.stringify(opencodeEvent("server.heartbeat").data)}`;

/** Returns an error in opencode's form. opencode has no errors for 403, 409, 429 and 503. */
function toOpencodeError({ statusCode, message, details }: HttpError): object {
  switch (statusCode) {
    case 400:
      return { _tag: "InvalidRequestError", message, field: message.slice(0, message.indexOf(":")) };
    case 401:
      return { _tag: "UnauthorizedError", message };
    case 404:
      return { ...details, message };
    case 403:
    case 409:
    case 429:
    case 503:
      return { error: message, message };
  }
}
