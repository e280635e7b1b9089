import { type Meter, ValueType } from "@opentelemetry/api";
import { type Convention, METRIC, VOCABULARY } from "./names.ts";

/** The buckets' boundaries for durations: from 0.01 s, doubling up to 81.92 s. */
const SECONDS = Array.from({ length: 14 }, (_, power) => Math.round(2 ** power) / 100);
/** The buckets' boundaries for turns and permissions: from 0.1 s, doubling up to 409.6 s. */
const TURN_SECONDS = Array.from({ length: 13 }, (_, power) => 2 ** power / 10);
/** The buckets' boundaries for tokens: from 1, quadrupling up to 67108864. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const COUNTS = [0, 1, 2, 3, 5, 8, 13, 21, 34];

/** Creates all instruments, with the buckets of the GenAI conventions. */
export function createInstruments(meter: Meter, convention: Convention) {
  const words = VOCABULARY[convention];
  const histogram = (name: MetricName, unit: string, buckets: readonly number[]) =>
    meter.createHistogram(name, {
      unit,
      description: DESCRIPTION[name],
      advice: { explicitBucketBoundaries: [...buckets] },
      valueType: unit === "s" ? ValueType.DOUBLE : ValueType.INT,
    });
  const whole = (name: MetricName, unit: string) => ({
    unit,
    description: DESCRIPTION[name],
    valueType: ValueType.INT,
  });
  const counter = (name: MetricName, unit: string) => meter.createCounter(name, whole(name, unit));
  const level = (name: MetricName, unit: string) => meter.createUpDownCounter(name, whole(name, unit));
  return {
    tokens: convention === "latest" ? tokenCounters() : { tokenUsage: histogram(METRIC.tokenUsage, "{token}", TOKENS) },
    chatDuration: histogram(words.chatDuration, "s", SECONDS),
    timeToFirstChunk: histogram(words.timeToFirstChunk, "s", SECONDS),
    timePerOutputChunk: histogram(words.timePerOutputChunk, "s", SECONDS),
    executeToolDuration: histogram(METRIC.executeToolDuration, "s", SECONDS),
    invokeAgentDuration: histogram(METRIC.invokeAgentDuration, "s", TURN_SECONDS),
    inferenceCalls: histogram(METRIC.inferenceCalls, "{call}", COUNTS),
    toolCalls: histogram(METRIC.toolCalls, "{call}", COUNTS),
    calls: counter(METRIC.calls, "{call}"),
    extraAnswers: counter(METRIC.extraAnswers, "{answer}"),
    openCalls: level(METRIC.openCalls, "{call}"),
    resultToModel: histogram(METRIC.resultToModel, "s", SECONDS),
    permissionWait: histogram(METRIC.permissionWait, "s", TURN_SECONDS),
    droppedMessages: counter(METRIC.droppedMessages, "{message}"),
    spentTokens: counter(METRIC.spentTokens, "{token}"),
    spentMoney: meter.createCounter(METRIC.spentMoney, {
      unit: "1",
      description: DESCRIPTION[METRIC.spentMoney],
      valueType: ValueType.DOUBLE,
    }),
    budgetEvents: counter(METRIC.budgetEvents, "{event}"),
    speculations: counter(METRIC.speculations, "{call}"),
    modelFallbacks: counter(METRIC.modelFallbacks, "{call}"),
    hooks: counter(METRIC.hooks, "{call}"),
    webhooks: counter(METRIC.webhooks, "{attempt}"),
    sessions: level(METRIC.sessions, "{session}"),
    waitingBlocks: meter.createObservableGauge(METRIC.waitingBlocks, whole(METRIC.waitingBlocks, "{block}")),
  };

  function tokenCounters() {
    return {
      counters: {
        inputTokens: counter(METRIC.usage.inputTokens, "{token}"),
        outputTokens: counter(METRIC.usage.outputTokens, "{token}"),
        cacheReadTokens: counter(METRIC.usage.cacheReadTokens, "{token}"),
        cacheWriteTokens: counter(METRIC.usage.cacheWriteTokens, "{token}"),
      },
      callInputTokens: histogram(METRIC.callInputTokens, "{token}", TOKENS),
      callOutputTokens: histogram(METRIC.callOutputTokens, "{token}", TOKENS),
    };
  }
}

export type Instruments = ReturnType<typeof createInstruments>;

type Leaves<Tree> = Tree extends string ? Tree : { [Key in keyof Tree]: Leaves<Tree[Key]> }[keyof Tree];

/** The names of all metrics in both vocabularies. */
type MetricName =
  | Leaves<typeof METRIC>
  | Exclude<Leaves<(typeof VOCABULARY)[keyof typeof VOCABULARY]>, `gen_ai.usage.${string}`>;

const FIRST_CHUNK =
  "Time to receive the first chunk, measured from when the client issues the generation request to when the first " +
  "chunk is received in the response stream.";
const OUTPUT_CHUNK =
  "Time per output chunk, recorded for each chunk received after the first one, measured as the time elapsed from " +
  "the end of the previous chunk to the end of the current chunk.";

/**
 * The description of each metric in `/metrics`, OTLP and docs/telemetry.md. GenAI metrics use the wording of the
 * conventions.
 */
const DESCRIPTION: Readonly<Record<MetricName, string>> = {
  "gen_ai.client.token.usage": "Number of input and output tokens used.",
  "gen_ai.client.operation.duration": "GenAI operation duration.",
  "gen_ai.client.operation.time_to_first_chunk": FIRST_CHUNK,
  "gen_ai.client.operation.time_per_output_chunk": OUTPUT_CHUNK,
  "gen_ai.client.inference.duration": "The duration of a single inference call, with its retries.",
  "gen_ai.client.inference.time_to_first_chunk": FIRST_CHUNK,
  "gen_ai.client.inference.time_per_output_chunk": OUTPUT_CHUNK,
  "gen_ai.client.inference.usage.input_tokens": "The number of input (prompt) tokens used, including cached tokens.",
  "gen_ai.client.inference.usage.output_tokens":
    "The number of output (completion) tokens used, including reasoning tokens.",
  "gen_ai.client.inference.usage.cache_read.input_tokens":
    "The number of input tokens served from a provider-managed cache.",
  "gen_ai.client.inference.usage.cache_write.input_tokens":
    "The number of input tokens written to a provider-managed cache.",
  "gen_ai.client.inference.operation.input_tokens": "The number of input (prompt) tokens used per inference operation.",
  "gen_ai.client.inference.operation.output_tokens":
    "The number of output (completion) tokens used per inference operation.",
  "gen_ai.execute_tool.duration": "The duration of a single tool execution.",
  "gen_ai.invoke_agent.duration": "The end-to-end duration of a single agent invocation, a turn.",
  "gen_ai.invoke_agent.inference_calls": "The number of model calls of a single agent invocation.",
  "gen_ai.invoke_agent.tool_calls": "The number of tool calls of a single agent invocation.",
  "parley.tool.calls": "Tool calls that have ended.",
  "parley.tool.extra_answers":
    "Answers to tool calls that changed nothing: late, duplicate, or from the wrong participant.",
  "parley.tool.open_calls": "Tool calls that have not ended.",
  "parley.turn.result_to_model": "Time from a step's last result to the next model call.",
  "parley.permission.wait": "Time that a call waited for somebody's permission.",
  "parley.messages.dropped": "Messages from clients that were dropped.",
  "parley.spending.tokens": "Tokens of model calls, of all kinds.",
  "parley.spending.money": "What model calls have cost, in the currency of the config's prices.",
  "parley.speculations": "Model calls that were made before it was certain that a participant had finished speaking.",
  "parley.budget.events": "Budget warnings, and model calls that were not made because a budget is used up.",
  "parley.model.fallbacks": "Model calls that failed, and that the next model of the agent's list continued.",
  "parley.hooks": "Calls of the author's hooks.",
  "parley.webhooks": "Attempts to deliver a webhook.",
  "parley.sessions": "Sessions that are open.",
  "parley.store.waiting_blocks": "Blocks that are not stored yet.",
};
