import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isRecord } from "../../lib/json.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import { TalkError } from "../talk/talk-error.ts";
import type { ExportOptions } from "./options.ts";

/** Writes a room's transcript to `out` as it comes, and leaves that open. @throws {TalkError} */
export async function runExport({ room, format, httpUrl, tokenSecret }: ExportOptions, out: Writable): Promise<void> {
  const { token } = await fetchToken({ httpUrl, room, identity: "parley-export", tokenSecret });
  const url = `${httpUrl}/session/${encodeURIComponent(conversationIdOfRoom(room))}/transcript?format=${format}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok || !response.body) {
    const answer: unknown = await response.json().catch(() => undefined);
    const reason = isRecord(answer) && typeof answer["error"] === "string" ? `: ${answer["error"]}` : "";
    throw new TalkError(`The transcript was answered with ${response.status}${reason}`);
  }
  await pipeline(response.body, out, { end: false }).catch((error: unknown) => {
    throw new TalkError("The transcript broke off before its end: ask for it again", { cause: error });
  });
}
