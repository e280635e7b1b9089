import type { FastifyRequest } from "fastify";
import { RoomAgentDispatch, RoomConfiguration } from "livekit-server-sdk";
import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { toObject } from "../../agent/choose-agent.ts";
import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
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
  /** Returns the names of the agents that a request may choose. @defaultValue only `default` */
  readonly agents?: () => Iterable<string>;
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

/** The limits of livekit-server 1.13.5. It refuses participants whose token exceeds them. */
const LIMITS = { nameBytes: 256, attributesBytes: 64 * 1024, metadataBytes: 512 * 1024 };
/** Enough for the metadata and the attributes of a token. */
const BODY_LIMIT_BYTES = 1024 * 1024;

const wellFormed = z.string("expected a string").refine((text) => text.isWellFormed(), "expected no lone surrogates");
const visible = wellFormed
  .min(1, "expected a non-empty string")
  // eslint-disable-next-line no-control-regex
  .regex(/^[^\u0000-\u001f\u007f]*$/, "expected no control characters");
const id = visible.max(128, "expected at most 128 characters");

const fitsIn = (limit: number) => (text: string) => Buffer.byteLength(text) <= limit;
const sizeOf = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);

const tokenBody = z.strictObject({
  room: id,
  // LiveKit removes a participant when another joins with the same identity. Nobody may do that to an agent.
  identity: id.refine(
    (identity) => !identity.startsWith(AGENT_PREFIX),
    `expected a name that does not begin with "${AGENT_PREFIX}"`,
  ),
  name: visible.refine(fitsIn(LIMITS.nameBytes), `expected at most ${LIMITS.nameBytes} bytes`).exactOptional(),
  attributes: z
    .record(wellFormed, wellFormed, "expected an object of strings")
    .refine((each) => sizeOf(each) <= LIMITS.attributesBytes, `expected at most ${LIMITS.attributesBytes} bytes`)
    .default({}),
  metadata: wellFormed
    .refine(fitsIn(LIMITS.metadataBytes), `expected at most ${LIMITS.metadataBytes} bytes`)
    .exactOptional(),
  agent: z.string("expected a string").exactOptional(),
});

/**
 * `POST /token {room, identity, name?, attributes?, metadata?, agent?}` returns `{token, livekitUrl}`, for joining that
 * room as that participant. If the participant creates the room, its agent receives `metadata` too.
 */
export function tokenRoutes(app: HttpApp, { livekit, publicUrl, token: access }: TokenOptions): void {
  const route = {
    // The secret is checked before the body is read.
    onRequest: async ({ headers }: FastifyRequest) => checkSecret(access, headers.authorization),
    bodyLimit: BODY_LIMIT_BYTES,
    schema: { body: z.preprocess((body) => body ?? {}, tokenBody) },
    validatorCompiler: zodValidator(nameAll),
  };

  app.post("/token", route, async ({ body: { agent, attributes, ...participant } }, reply) => {
    const token = await grantToken(livekit, {
      ...participant,
      attributes: { ...attributes, ...agentAttribute({ agent, attributes }, access) },
      ttl: "6h",
      roomConfig: toRoomConfig(access, participant.metadata),
    });
    reply.header("cache-control", "no-store");
    return { token, livekitUrl: publicUrl };
  });
}

/**
 * Returns the attribute that chooses the agent of a new room.
 *
 * @throws {HttpError} 400 for an unknown agent, or one that differs from the attribute in the request
 */
function agentAttribute(
  { agent, attributes }: { readonly agent: string | undefined; readonly attributes: Readonly<Record<string, string>> },
  { agents = () => [] }: TokenAccess,
): { readonly agent?: string } {
  if (agent === undefined) return {};
  if ((attributes["agent"] ?? agent) !== agent)
    throw new HttpError(400, "agent: the attribute agent names another agent");
  const known = [DEFAULT_AGENT, ...agents()];
  if (known.includes(agent)) return { agent };
  throw new HttpError(400, `agent: there is no agent "${agent}".${didYouMean(agent, known)}`);
}

/** Returns what LiveKit does if the participant creates the room. @returns `undefined` for LiveKit's own defaults */
function toRoomConfig({ agentName = "" }: TokenAccess, metadata = ""): RoomConfiguration | undefined {
  // Only an object can be meant for the agent (`chooseAgent`).
  const forAgent = toObject(metadata) === undefined ? "" : metadata;
  if (agentName === "" && forAgent === "") return undefined;
  return new RoomConfiguration({ agents: [new RoomAgentDispatch({ agentName, metadata: forAgent })] });
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
