import type { TurnPart, TurnTimings } from "@parley/react";
import { toExtraAnswers } from "../../tools/extra-answers.ts";
import type { Words } from "../../shared/words/words.ts";

/** Details of a call that `timings` does not contain, from the record or from live events. */
export interface TimedCall {
  readonly id?: string | undefined;
  readonly toolUseId?: string | undefined;
  readonly name: string;
  readonly status: string;
  /** Unix ms by the worker's clock, like `finishedAt` and the `at` of an extra answer. */
  readonly startedAt?: number | undefined;
  readonly finishedAt?: number | undefined;
  readonly extraAnswers?: readonly { readonly kind: string; readonly success: boolean; readonly at?: number }[];
}

/** A part of a turn. Times are in ms since the turn's start, or since the first sound of a spoken question. */
export interface Bar {
  readonly name: string;
  readonly kind: "model" | "wait" | "tool" | "speech" | "late";
  readonly fromMs: number;
  readonly toMs: number;
}

interface Waterfall {
  readonly totalMs: number;
  readonly bars: readonly Bar[];
}

/** Matches the tool use id of a form that a running tool shows. The model did not write this tool use. */
const FORM = /^form:/;

/**
 * Returns a turn's parts in the order in which they started. `calls` must list the newest version of each call first.
 */
export function toWaterfall(timings: TurnTimings, calls: readonly TimedCall[], words: BarWords): Waterfall {
  const { totalMs, parts } = timings;
  const bars = parts
    .flatMap((part) => toBars(part, { timings, calls, words }))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
  const zero = Math.min(0, ...bars.map(({ fromMs }) => fromMs));
  return {
    totalMs: totalMs - zero,
    bars: bars
      .map((bar) => ({ ...bar, fromMs: bar.fromMs - zero, toMs: bar.toMs - zero }))
      .toSorted((left, right) => left.fromMs - right.fromMs),
  };
}

type BarWords = Words["developer"]["bars"];

interface Turn {
  readonly timings: TurnTimings;
  readonly calls: readonly TimedCall[];
  readonly words: BarWords;
}

type Span = readonly [fromMs: number, toMs: number];

function bar(name: string, kind: Bar["kind"], [fromMs, toMs]: Span): Bar {
  return { name, kind, fromMs, toMs };
}

function toBars(part: TurnPart, turn: Turn): readonly Bar[] {
  const { timings, calls, words } = turn;
  const { span, fromMs, toMs = timings.totalMs, firstMs = toMs } = part;
  const before: Span = [fromMs, firstMs];
  const after: Span = [firstMs, toMs];
  const name = findCall(part, calls)?.name ?? (FORM.test(part.toolUseId ?? "") ? "ask_user" : words.aTool);
  switch (span) {
    case "parley.hearing":
      return [bar(words.heard, "speech", before), bar(words.endOfTurn, "wait", after)];
    case "chat":
      return [bar(words.firstWordOfModel, "wait", before), bar(words.model, "model", after)];
    case "parley.speech": {
      // The span starts with the turn, but there is nothing to speak before the answer's first words.
      const { firstTextMs = fromMs } = timings;
      const wordsMs = firstTextMs <= firstMs ? Math.max(fromMs, firstTextMs) : fromMs;
      return [bar(words.firstSound, "wait", [wordsMs, firstMs]), bar(words.speech, "speech", after)];
    }
    case "execute_tool":
      return toCallBars(name, part, turn);
    case "parley.permission":
      return [bar(words.waitsForPermission(name), "wait", [fromMs, toMs])];
    case "parley.claim":
      return [bar(words.waitsForDevice(name), "wait", [fromMs, toMs])];
    default:
      return [];
  }
}

const WAITS: readonly string[] = ["parley.permission", "parley.claim"];

/**
 * Returns a call's bars: the wait before its start, its run, and late answers. Waits that have their own spans are left
 * out.
 */
function toCallBars(name: string, part: TurnPart, { timings, calls, words }: Turn): readonly Bar[] {
  const { fromMs, toMs, callId } = part;
  const call = findCall(part, calls);
  const { startedAt: zero, totalMs, parts } = timings;
  const since = (at: number | undefined) => (at === undefined ? undefined : at - zero);
  // The end of a call that outlasted its turn is only in `call`.
  const endedMs = toMs ?? since(call?.finishedAt) ?? totalMs;
  const waits = parts.filter((other) => WAITS.includes(other.span) && other.callId === callId);
  const startedMs = since(call?.startedAt);
  // Excludes waits after the start: a running call may ask for permission, too.
  const before = waits.filter((wait) => startedMs === undefined || wait.fromMs < startedMs);
  const freeMs = Math.max(fromMs, ...before.map((wait) => wait.toMs ?? endedMs));
  const late = toExtraAnswers({ status: call?.status ?? "", extraAnswers: call?.extraAnswers ?? [] });
  return [
    bar(words.waits(name), "wait", [freeMs, startedMs ?? freeMs]),
    bar(words.runs(name), "tool", [startedMs ?? freeMs, endedMs]),
    ...late.flatMap(({ at }) => (at === undefined ? [] : bar(words.lateAnswer(name), "late", [endedMs, at - zero]))),
  ];
}

function findCall({ callId, toolUseId }: TurnPart, calls: readonly TimedCall[]): TimedCall | undefined {
  return calls.find(
    (call) => (callId !== undefined && call.id === callId) || (toolUseId !== undefined && call.toolUseId === toolUseId),
  );
}
