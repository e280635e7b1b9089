/** OpenTelemetry's two GenAI vocabularies: the latest release, and its successor. */
export type Convention = "1.41" | "latest";

/** Attributes with the same name in both vocabularies. The GenAI attributes have the status Development. */
export const ATTR = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversationId: "gen_ai.conversation.id",
  agentName: "gen_ai.agent.name",
  outputType: "gen_ai.output.type",
  requestModel: "gen_ai.request.model",
  requestStream: "gen_ai.request.stream",
  requestMaxTokens: "gen_ai.request.max_tokens",
  /** Only in the newer vocabulary. */
  reasoningLevel: "gen_ai.request.reasoning.level",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  tokenType: "gen_ai.token.type",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolDescription: "gen_ai.tool.description",
  toolType: "gen_ai.tool.type",
  errorType: "error.type",
  exceptionType: "exception.type",
  serverAddress: "server.address",
  serverPort: "server.port",
} as const;

/** Attributes that contain the conversation. They are set only if the operator enables them. */
export const CONTENT = {
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  systemInstructions: "gen_ai.system_instructions",
  toolDefinitions: "gen_ai.tool.definitions",
  callArguments: "gen_ai.tool.call.arguments",
  callResult: "gen_ai.tool.call.result",
} as const;

/** Parley's own attributes. */
export const PARLEY = {
  sessionId: "parley.session.id",
  turnId: "parley.turn.id",
  turnBegunBy: "parley.turn.begun_by",
  turnState: "parley.turn.state",
  turnSteps: "parley.turn.steps",
  stopReason: "parley.stop_reason",
  participant: "parley.participant",
  callId: "parley.call.id",
  executionAsked: "parley.execution.asked",
  executionResolved: "parley.execution.resolved",
  outcome: "parley.outcome",
  late: "parley.late",
  answerKind: "parley.answer.kind",
  answerSuccess: "parley.answer.success",
  claimEnd: "parley.claim.end",
  speechInterrupted: "parley.speech.interrupted",
  speechFirstHeard: "parley.speech.time_to_first_heard",
  hearingSpoken: "parley.hearing.spoken",
  turnEndSound: "parley.turn_end.sound",
  turnEndSentence: "parley.turn_end.sentence",
  turnEndComplete: "parley.turn_end.complete",
  permissionId: "parley.permission.id",
  permissionState: "parley.permission.state",
  permissionVia: "parley.permission.via",
  dropReason: "parley.drop.reason",
  spendingPurpose: "parley.spending.purpose",
  budget: "parley.budget",
  budgetEvent: "parley.budget.event",
  speculationEnd: "parley.speculation.end",
  hook: "parley.hook",
  hookEnd: "parley.hook.end",
  webhookEnd: "parley.webhook.end",
  retryAttempt: "parley.retry.attempt",
  retryDelay: "parley.retry.delay",
} as const;

export const OPERATION = { chat: "chat", executeTool: "execute_tool", invokeAgent: "invoke_agent" } as const;

/** Parley's own spans. All other span names are derived from the operation, as the convention specifies. */
export const SPAN = {
  claim: "parley.claim",
  permission: "parley.permission",
  speech: "parley.speech",
  hearing: "parley.hearing",
  extraAnswer: "parley.extra_answer",
} as const;

export const EVENT = {
  details: "gen_ai.client.inference.operation.details",
  exception: "gen_ai.client.operation.exception",
  retry: "parley.model.retry",
} as const;

/** Names that differ between the two vocabularies. */
export const VOCABULARY = {
  "1.41": {
    cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
    chatDuration: "gen_ai.client.operation.duration",
    timeToFirstChunk: "gen_ai.client.operation.time_to_first_chunk",
    timePerOutputChunk: "gen_ai.client.operation.time_per_output_chunk",
  },
  latest: {
    cacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
    chatDuration: "gen_ai.client.inference.duration",
    timeToFirstChunk: "gen_ai.client.inference.time_to_first_chunk",
    timePerOutputChunk: "gen_ai.client.inference.time_per_output_chunk",
  },
} as const satisfies Record<Convention, Record<string, string>>;

export const METRIC = {
  /** Only in 1.41. */
  tokenUsage: "gen_ai.client.token.usage",
  /** The tokens of one model call. Only in the newer vocabulary, like the next two metrics. */
  usage: {
    inputTokens: "gen_ai.client.inference.usage.input_tokens",
    outputTokens: "gen_ai.client.inference.usage.output_tokens",
    cacheReadTokens: "gen_ai.client.inference.usage.cache_read.input_tokens",
    cacheWriteTokens: "gen_ai.client.inference.usage.cache_write.input_tokens",
  },
  callInputTokens: "gen_ai.client.inference.operation.input_tokens",
  callOutputTokens: "gen_ai.client.inference.operation.output_tokens",
  executeToolDuration: "gen_ai.execute_tool.duration",
  invokeAgentDuration: "gen_ai.invoke_agent.duration",
  inferenceCalls: "gen_ai.invoke_agent.inference_calls",
  toolCalls: "gen_ai.invoke_agent.tool_calls",
  calls: "parley.tool.calls",
  extraAnswers: "parley.tool.extra_answers",
  openCalls: "parley.tool.open_calls",
  resultToModel: "parley.turn.result_to_model",
  permissionWait: "parley.permission.wait",
  droppedMessages: "parley.messages.dropped",
  sessions: "parley.sessions",
  waitingBlocks: "parley.store.waiting_blocks",
  spentTokens: "parley.spending.tokens",
  spentMoney: "parley.spending.money",
  budgetEvents: "parley.budget.events",
  speculations: "parley.speculations",
  modelFallbacks: "parley.model.fallbacks",
  hooks: "parley.hooks",
  webhooks: "parley.webhooks",
} as const;
