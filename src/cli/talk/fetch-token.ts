import { isRecord } from "../../lib/json.ts";
import { askServer, readJson } from "./ask-server.ts";
import type { About, TalkOptions } from "./options.ts";
import { TalkError } from "./talk-error.ts";

const TIMEOUT_MS = 10_000;

type TokenRequest = Pick<TalkOptions, "httpUrl" | "room" | "identity" | "tokenSecret"> & { readonly about?: About };

export interface RoomToken {
  readonly token: string;
  readonly livekitUrl: string;
}

/** Requests a token for the room from Parley's HTTP server. @throws {TalkError} */
export async function fetchToken({ httpUrl, room, identity, about, tokenSecret }: TokenRequest): Promise<RoomToken> {
  const authorization = tokenSecret === undefined ? {} : { authorization: `Bearer ${tokenSecret}` };
  const response = await askServer(`${httpUrl}/token`, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization },
    body: JSON.stringify({ ...about, room, identity }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = await readJson(response);
  const { token, livekitUrl } = isRecord(answer) ? answer : {};
  if (typeof token !== "string" || typeof livekitUrl !== "string") {
    throw new TalkError(`${httpUrl}/token returned no token: is this Parley's HTTP server?`);
  }
  return { token, livekitUrl };
}
