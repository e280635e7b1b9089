import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { askServer, brokenOff } from "../talk/ask-server.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import type { ExportOptions } from "./options.ts";

/** Streams a room's transcript to `out`. Does not close `out`. @throws {TalkError} */
export async function runExport({ room, format, httpUrl, tokenSecret }: ExportOptions, out: Writable): Promise<void> {
  const { token } = await fetchToken({ httpUrl, room, identity: "parley-export", tokenSecret });
  const url = `${httpUrl}/session/${encodeURIComponent(conversationIdOfRoom(room))}/transcript?format=${format}`;
  const response = await askServer(url, { headers: { authorization: `Bearer ${token}` } });
  await pipeline(response.body ?? [], out, { end: false }).catch((error: unknown) => {
    throw brokenOff(response, error);
  });
}
