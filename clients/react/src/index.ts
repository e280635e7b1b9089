export {
  type Attachment,
  type ExtraAnswer,
  type SpokenTool,
  type SpokenTurn,
  toolResult,
  type TranscriptPart,
  type TurnPart,
  type TurnTimings,
} from "@parley/client";
export { checkField, type FieldValue, type FormField, parseField } from "@parley/client/forms";
export { ParleyProvider, useParley } from "./parley-provider.tsx";
export { type OpenForm } from "./store/form-list.ts";
export { type Part, type TalkMessage, textOf } from "./store/message.ts";
export { type Permission } from "./store/permission.ts";
export { type TalkEntry } from "./store/talk-log.ts";
export { isOpen, type ToolCall } from "./store/tool-call.ts";
export { useAgent } from "./use-agent.ts";
export { type AgentState, useAgentState } from "./use-agent-state.ts";
export { useClientTool } from "./use-client-tool.ts";
export { useForms } from "./use-forms.ts";
export { usePermissions } from "./use-permissions.ts";
export { usePushToTalk } from "./use-push-to-talk.ts";
export { useMessage, useTalk } from "./use-talk.ts";
export { useToolCall, useToolCalls } from "./use-tool-calls.ts";
export { ToolCallView, type ToolView, useToolUI } from "./use-tool-ui.tsx";
export { type Usage, useUsage } from "./use-usage.ts";
export { useVoice } from "./use-voice.ts";
