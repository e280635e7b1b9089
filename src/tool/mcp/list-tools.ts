import { type Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";

export const MAX_TOOLS = 128;
const MAX_PAGES = 32;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** All pages of a server's list, unchecked, so that one bad tool does not cost the others. */
export async function listTools(client: Client, timeoutMs: number): Promise<readonly unknown[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length <= MAX_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, pageSchema, { timeout: timeoutMs });
    tools.push(...answer.tools.slice(0, MAX_TOOLS + 1));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}
