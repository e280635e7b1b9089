import { useSyncExternalStore } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import type { ToolCall } from "./store/tool-call.ts";

/** All calls since this client came, the oldest first, wherever they run. */
export function useToolCalls(): readonly ToolCall[] {
  const { log } = useTalkClient();
  return useSyncExternalStore(log.subscribe, () => log.calls);
}

/** The call of one part of a message. */
export function useToolCall(toolUseId: string): ToolCall | undefined {
  const { log } = useTalkClient();
  return useSyncExternalStore(log.subscribe, () => log.call(toolUseId));
}
