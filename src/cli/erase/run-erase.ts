import { askServer, readJson } from "../talk/ask-server.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import type { EraseOptions } from "./options.ts";

/** Deletes everything stored about a participant. @returns what was deleted, as JSON. @throws {TalkError} */
export async function runErase({ identity, httpUrl, tokenSecret }: EraseOptions): Promise<string> {
  const { token } = await fetchToken({ httpUrl, room: "parley-erase", identity, tokenSecret });
  const response = await askServer(`${httpUrl}/participant/${encodeURIComponent(identity)}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  return JSON.stringify(await readJson(response));
}
