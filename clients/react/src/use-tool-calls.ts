import { useTalkClient } from "./parley-provider.tsx";
import type { ToolCall } from "./store/tool-call.ts";
import { useWatched } from "./use-watched.ts";

/** Returns all calls since this client joined, oldest first, wherever they run. */
export function useToolCalls(): readonly ToolCall[] {
  const { log } = useTalkClient();
  return useWatched(log.subscribe, () => log.calls);
}

/** Returns the call of a message part. */
export function useToolCall(toolUseId: string): ToolCall | undefined {
  const { log } = useTalkClient();
  return useWatched(log.subscribe, () => log.call(toolUseId));
}
