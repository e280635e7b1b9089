import type { FastifyRequest } from "fastify";
import { RoomAgentDispatch, RoomConfiguration } from "livekit-server-sdk";
import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { AGENT_PREFIX } from "../../protocol/conversation-id.ts";
import { isLoopback } from "../../lib/loopback.ts";
import type { HttpApp } from "../http-app.ts";
import { grantToken } from "../../livekit/grant-token.ts";
import { HttpError } from "../http-error.ts";
import { nameAll, zodValidator } from "../zod-types.ts";

/** Who may get a token. */
export interface TokenAccess {
  /** Whether any program on this machine gets a token if there is no secret. */
  readonly isOpen: boolean;
  readonly secret: string | undefined;
  /**
   * The agent to dispatch when the participant creates the room. @defaultValue none: LiveKit itself dispatches an agent
   * without a name
   */
  readonly agentName?: string | undefined;
}

interface TokenSettings {
  readonly livekitUrl: string | undefined;
  readonly httpHost: string;
  readonly tokenSecret: string | undefined;
  readonly livekitAgentName?: string | undefined;
}

/**
 * Returns who may get a token. Access is open if Parley starts livekit-server itself and its HTTP server listens only
 * on loopback.
 */
export function tokenAccess({ livekitUrl, httpHost, tokenSecret, livekitAgentName }: TokenSettings): TokenAccess {
  const isOpen = livekitUrl === undefined && isLoopback(httpHost);
  return { isOpen, secret: tokenSecret, agentName: livekitAgentName };
}

interface TokenOptions {
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly publicUrl: string;
  readonly token: TokenAccess;
}

const name = z
  .string("expected a string")
  .min(1, "expected a non-empty string")
  .max(128, "expected at most 128 characters")
  // eslint-disable-next-line no-control-regex
  .regex(/^[^\u0000-\u001f\u007f]*$/, "expected no control characters")
  .refine((text) => text.isWellFormed(), "expected no lone surrogates");
const tokenBody = z.strictObject({
  room: name,
  // LiveKit removes a participant when another joins with the same identity. Nobody may do that to an agent.
  identity: name.refine(
    (identity) => !identity.startsWith(AGENT_PREFIX),
    `expected a name that does not begin with "${AGENT_PREFIX}"`,
  ),
});

/** `POST /token {room, identity}` returns `{token, livekitUrl}`, for joining that room as that participant. */
export function tokenRoutes(app: HttpApp, { livekit, publicUrl, token: access }: TokenOptions): void {
  const route = {
    // The secret is checked before the body is read.
    onRequest: async ({ headers }: FastifyRequest) => checkSecret(access, headers.authorization),
    schema: { body: z.preprocess((body) => body ?? {}, tokenBody) },
    validatorCompiler: zodValidator(nameAll),
  };

  app.post("/token", route, async ({ body: { room, identity } }, reply) => {
    const { agentName } = access;
    const roomConfig =
      agentName === undefined ? undefined : new RoomConfiguration({ agents: [new RoomAgentDispatch({ agentName })] });
    const token = await grantToken(livekit, { room, identity, ttl: "6h", roomConfig });
    reply.header("cache-control", "no-store");
    return { token, livekitUrl: publicUrl };
  });
}

function checkSecret({ isOpen, secret }: TokenAccess, authorization = ""): void {
  if (secret !== undefined && !isSameSecret(authorization, `Bearer ${secret}`))
    throw new HttpError(401, "Authorization: expected Bearer and TOKEN_SECRET");
  if (secret === undefined && !isOpen)
    throw new HttpError(403, "POST /token needs TOKEN_SECRET unless the server runs on loopback with its own LiveKit");
}

function isSameSecret(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
