// The public API of the package `parley`, which tools, agents and the config file import under that name, even inside
// this repository.

export {
  type AgentParticipant,
  type AgentSession,
  type ContinueConversation,
  type LaterRoom,
  type LocalTime,
} from "./agent/agent-session.ts";
export { type Agent, type AgentDefinition, defineAgent } from "./agent/define-agent.ts";
export { type Listen, type OneOrMore, type Speak, type VoiceSession } from "./agent/plugins/speech-plugins.ts";
export {
  type HookContext,
  type LiveHookContext,
  type SessionEnded,
  type SessionStarted,
  type TurnEnded,
} from "./agent/hooks.ts";
export {
  type AnswerDecision,
  type HookSession,
  type OnAnswer,
  type OnUserTurn,
  type UserTurn,
  type UserTurnDecision,
} from "./agent/turn-hooks.ts";
// Exported with `*`, so that authors can add fields to `SessionState` in the module "parley".
export * from "./conversation/state/session-state.ts";
export { type JsonObject, type JsonValue } from "./lib/json.ts";
export { type ResultBlock, toolResult, type ToolResult, type ToolResultParts } from "./protocol/tool-result.ts";
export {
  defineTool,
  type Elicitation,
  type Elicited,
  type PermissionAsk,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolPermission,
  type ToolRun,
} from "./tool/define-tool.ts";
export { PermissionDenied } from "./tool/permission-denied.ts";
export { type ConfigFile, defineConfig } from "./worker/config-file.ts";
export { registerWorkerHooks, type WorkerHooks } from "./worker/hooks/worker-hooks.ts";
