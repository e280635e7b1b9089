import { isRecord } from "../../lib/json.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import { TalkError } from "../talk/talk-error.ts";
import type { EraseOptions } from "./options.ts";

/** Removes all that is stored of a participant. Returns what was removed, as JSON. @throws {TalkError} */
export async function runErase({ identity, httpUrl, tokenSecret }: EraseOptions): Promise<string> {
  const { token } = await fetchToken({ httpUrl, room: "parley-erase", identity, tokenSecret });
  const response = await fetch(`${httpUrl}/participant/${encodeURIComponent(identity)}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return JSON.stringify(answer);
  const reason = isRecord(answer) && typeof answer["error"] === "string" ? `: ${answer["error"]}` : "";
  throw new TalkError(`The request was answered with ${response.status}${reason}`);
}
