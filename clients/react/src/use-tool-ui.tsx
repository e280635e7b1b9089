import { type ComponentType, type ReactNode, useEffect } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import type { ToolCall } from "./store/tool-call.ts";
import { useToolCall } from "./use-tool-calls.ts";
import { useWatched } from "./use-watched.ts";

export type ToolView = ComponentType<{ readonly call: ToolCall }>;

/** Makes every `ToolCallView` render the calls of one tool with your own component. */
export function useToolUI(toolName: string, Component: ToolView): void {
  const { views } = useTalkClient();
  useEffect(() => views.set(toolName, Component), [views, toolName, Component]);
}

interface ToolCallViewProps {
  /** The `toolUseId` of the message part. */
  readonly toolUseId: string;
  /** The component for tools for which `useToolUI` has set none. */
  readonly fallback: ToolView;
}

/** Renders a call with the component that `useToolUI` set for its tool. */
export function ToolCallView({ toolUseId, fallback: Fallback }: ToolCallViewProps): ReactNode {
  const { views } = useTalkClient();
  const call = useToolCall(toolUseId);
  const View = useWatched(views.subscribe, () => views.get(call?.name ?? "")) ?? Fallback;
  return call && <View call={call} />;
}
