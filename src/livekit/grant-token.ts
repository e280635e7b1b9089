import { AccessToken, type AccessTokenOptions, type RoomConfiguration } from "livekit-server-sdk";

/** The API keys of a LiveKit server. */
interface LivekitKeys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

interface Grant extends Pick<AccessTokenOptions, "ttl" | "name" | "attributes" | "metadata"> {
  readonly room: string;
  readonly identity: string;
  /** A participant of the kind `agent` may change its own attributes. @defaultValue "standard" */
  readonly kind?: "standard" | "agent";
  /** The configuration of the room, if joining with this token creates it. */
  readonly roomConfig?: RoomConfiguration | undefined;
}

/** Returns a token that lets a participant join the room, publish, and subscribe to others. */
export async function grantToken(
  { apiKey, apiSecret }: LivekitKeys,
  { room, kind = "standard", roomConfig, ...options }: Grant,
): Promise<string> {
  const token = new AccessToken(apiKey, apiSecret, options);
  token.kind = kind;
  const isAgent = kind === "agent";
  const may = { canPublish: true, canSubscribe: true, canPublishData: true, canUpdateOwnMetadata: isAgent };
  token.addGrant({ room, roomJoin: true, ...may, ...(isAgent && { agent: true }) });
  if (roomConfig) token.roomConfig = roomConfig;
  return token.toJwt();
}
