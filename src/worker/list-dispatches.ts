import type { AgentDispatch } from "@livekit/protocol";
import type { AgentDispatchClient } from "livekit-server-sdk";
import { ignoreMissing } from "./ignore-gone.ts";

/**
 * Returns the room's dispatches to an agent name ("" for workers without one), newest first. Returns an empty list if
 * the room has ended.
 */
export async function listDispatches(
  client: Pick<AgentDispatchClient, "listDispatch">,
  { room, agentName }: { readonly room: string; readonly agentName: string },
): Promise<AgentDispatch[]> {
  const createdAt = ({ state }: AgentDispatch) => state?.createdAt ?? 0n;
  const dispatches = await client.listDispatch(room).catch(ignoreMissing);
  return dispatches
    .filter((each) => each.agentName === agentName)
    .toSorted((one, other) => Number(createdAt(other) - createdAt(one)));
}
