import { isRecord } from "../../lib/json.ts";
import { TalkError } from "./talk-error.ts";
import type { TalkOptions } from "./options.ts";

const TIMEOUT_MS = 10_000;

type TokenRequest = Pick<TalkOptions, "httpUrl" | "room" | "identity" | "tokenSecret">;

export interface RoomToken {
  readonly token: string;
  readonly livekitUrl: string;
}

/** Asks Parley's HTTP server for the right to join the room. @throws {TalkError} */
export async function fetchToken({ httpUrl, room, identity, tokenSecret }: TokenRequest): Promise<RoomToken> {
  const response = await post(`${httpUrl}/token`, { room, identity }, tokenSecret);
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    const reason = isRecord(answer) && typeof answer["error"] === "string" ? `: ${answer["error"]}` : "";
    throw new TalkError(`${httpUrl}/token answered ${response.status}${reason}`);
  }
  const { token, livekitUrl } = isRecord(answer) ? answer : {};
  if (typeof token !== "string" || typeof livekitUrl !== "string") {
    throw new TalkError(`${httpUrl}/token gave no token: is this Parley's HTTP server?`);
  }
  return { token, livekitUrl };
}

async function post(url: string, body: object, secret: string | undefined): Promise<Response> {
  const authorization = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const text = `Parley does not answer at ${new URL(url).origin}. Start it with npm start, or name it with --http.`;
    throw new TalkError(text, { cause: error });
  }
}
