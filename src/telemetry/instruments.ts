import { ValueType, type Meter } from "@opentelemetry/api";
import { DESCRIPTION, type MetricName } from "./descriptions.ts";
import { METRIC, VOCABULARY, type Convention } from "./names.ts";

/** 0.01 s, doubled up to 81.92 s. */
const SECONDS = Array.from({ length: 14 }, (_, power) => Math.round(2 ** power) / 100);
/** 0.1 s, doubled up to 409.6 s. */
const TURN_SECONDS = Array.from({ length: 13 }, (_, power) => 2 ** power / 10);
/** 1, times 4 up to 67108864. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const COUNTS = [0, 1, 2, 3, 5, 8, 13, 21, 34];

/** Everything that is counted, with the buckets that the GenAI conventions give. */
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
