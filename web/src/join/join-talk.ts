import { ConnectionError, ConnectionErrorReason, Room } from "livekit-client";
import { getWords } from "../shared/words/words.ts";

/** The optional fields of the join form, as they were typed. Empty texts count as absent. */
export interface About {
  readonly agent?: string;
  readonly name?: string;
  readonly language?: string;
  /** A JSON object of strings. */
  readonly attributes?: string;
  readonly metadata?: string;
}

/** A room and the participant in it. */
export interface Place {
  readonly room: string;
  readonly identity: string;
  readonly about?: About | undefined;
}

/** A conversation that this page has joined or is joining. */
export interface JoinedTalk extends Place {
  readonly token: string;
  readonly livekitUrl: string;
  /** The secret used to get the token. Empty if none was needed, or after a reload. */
  readonly secret: string;
  readonly liveKit: Room;
}

/** The reason why a conversation cannot be joined, with what to do, in one sentence. */
export class JoinError extends Error {
  /** Whether the worker requires its secret. */
  readonly wantsSecret: boolean;

  constructor(message: string, { wantsSecret = false, ...options }: ErrorOptions & { wantsSecret?: boolean } = {}) {
    super(message, options);
    this.name = "JoinError";
    this.wantsSecret = wantsSecret;
  }
}

/** Creates the room's object. Its microphone is recorded until the agent hears it, so that no first words are lost. */
export function createRoom(): Room {
  return new Room({ publishDefaults: { preConnectBuffer: true } });
}

/** Returns the name of a room that nobody has been in. */
export function newRoom(): string {
  return `talk-${Math.random().toString(36).slice(2, 10)}`;
}

export function toJoinError(error: unknown): JoinError {
  return error instanceof JoinError ? error : new JoinError(String(error));
}

/**
 * Gets a token from the worker that serves this page. After that, call `connectTalk` to connect to the room.
 *
 * @param secret the worker's `TOKEN_SECRET`, if it has one
 */
export async function joinTalk({ room, identity, about = {} }: Place, secret: string): Promise<JoinedTalk> {
  const headers = { "content-type": "application/json", ...(secret !== "" && { authorization: `Bearer ${secret}` }) };
  const body = JSON.stringify({ ...toRequest(about), room, identity });
  const response = await fetch("/token", { method: "POST", headers, body }).catch((cause: unknown) => {
    throw new JoinError(getWords().join.noWorker, { cause });
  });
  const answer = (await response.json().catch(() => ({}))) as { token?: string; livekitUrl?: string; error?: string };
  if (response.status === 401)
    throw new JoinError(secret === "" ? getWords().join.secretRequired : getWords().join.wrongSecret, {
      wantsSecret: true,
    });
  const { token, livekitUrl, error = getWords().conversations.workerAnswered(response.status) } = answer;
  if (token === undefined || livekitUrl === undefined) throw new JoinError(error);
  return { room, identity, about, token, livekitUrl, secret, liveKit: createRoom() };
}

/** Returns the fields of a request for a token. @throws {JoinError} if the attributes are not JSON */
function toRequest({ agent, name, attributes, metadata }: About): object {
  try {
    return {
      ...(agent && { agent }),
      ...(name && { name }),
      ...(metadata && { metadata }),
      ...(attributes && { attributes: JSON.parse(attributes) as unknown }),
    };
  } catch (cause) {
    throw new JoinError(getWords().join.attributesNotJson, { cause });
  }
}

/** Connects to the LiveKit room. Rejects with an error that explains in one sentence what to do. */
export async function connectTalk({ liveKit, livekitUrl, token }: JoinedTalk): Promise<void> {
  try {
    await liveKit.connect(livekitUrl, token);
  } catch (cause) {
    // After a reload, the page still uses the token of the first join, which may have expired.
    if (cause instanceof ConnectionError && cause.reason === ConnectionErrorReason.NotAllowed)
      throw new JoinError(getWords().join.tokenRefused, { cause });
    throw new JoinError(getWords().join.noLiveKit(livekitUrl), {
      cause,
    });
  }
}
