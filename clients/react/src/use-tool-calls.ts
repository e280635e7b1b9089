import { useTalkClient } from "./parley-provider.tsx";
import type { ToolCall } from "./store/tool-call.ts";
import { useWatched } from "./use-watched.ts";

/** All calls since this client joined, the oldest first, wherever they run. */
export function useToolCalls(): readonly ToolCall[] {
  const { log } = useTalkClient();
  return useWatched(log.subscribe, () => log.calls);
}

/** The call of one part of a message. */
export function useToolCall(toolUseId: string): ToolCall | undefined {
  const { log } = useTalkClient();
  return useWatched(log.subscribe, () => log.call(toolUseId));
}
