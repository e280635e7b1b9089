import type { Attributes, Span } from "@opentelemetry/api";
import type { TurnEndJudgment, TurnPart, TurnTimings } from "../../conversation/turn-timings.ts";
import { ATTR, PARLEY } from "../../telemetry/names.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";

/** The maximum number of spans recorded per turn. A turn with fifty calls has fewer. */
const MAX_PARTS = 200;

/** Collects the times of one turn's spans for its record, so that transcripts show them even without tracing. */
export class TurnTimes {
  readonly #startedAt = Date.now();
  readonly #zero = performance.now();
  readonly #parts: TurnPart[] = [];
  #firstTextMs: number | undefined;
  #turnEnd: TurnEndJudgment | undefined;

  handleText(): void {
    this.#firstTextMs ??= this.#now;
  }

  handleTurnEnd(judgment: TurnEndJudgment): void {
    this.#turnEnd = judgment;
  }

  /** Wraps a tracer so that the times of its spans are recorded here. */
  watch(tracer: Telemetry["tracer"]): Telemetry["tracer"] {
    return {
      startSpan: (name, options = {}, context) => {
        const span = tracer.startSpan(name, options, context);
        const { startTime, attributes = {} } = options;
        const fromMs = startTime instanceof Date ? startTime.getTime() - this.#startedAt : this.#now;
        const [kind = name] = name.split(" ");
        if (this.#parts.length < MAX_PARTS) this.#follow(span, { span: kind, fromMs, ...idsOf(attributes) });
        return span;
      },
    };
  }

  /** Returns the turn's times, with its end set to now. */
  toTimings(): TurnTimings {
    const firstTextMs = this.#firstTextMs;
    return {
      startedAt: this.#startedAt,
      totalMs: this.#now,
      ...(firstTextMs !== undefined && { firstTextMs }),
      parts: this.#parts.map((part) => ({ ...part })),
      ...(this.#turnEnd && { turnEnd: this.#turnEnd }),
    };
  }

  get #now(): number {
    return Math.round(performance.now() - this.#zero);
  }

  /**
   * Records a span's times by wrapping the span's methods. Even without tracing, each span is a separate object, so
   * wrapping one does not affect the others.
   */
  #follow(span: Span, part: TurnPart): void {
    this.#parts.push(part);
    const setAttribute = span.setAttribute.bind(span);
    const end = span.end.bind(span);
    span.setAttribute = (key, value) => {
      if (FIRST.has(key)) part.firstMs = part.fromMs + Math.round(1_000 * Number(value));
      return setAttribute(key, value);
    };
    span.end = (at) => {
      part.toMs ??= this.#now;
      end(at);
    };
  }
}

/** Attributes whose values are seconds since the span's start. */
const FIRST: ReadonlySet<string> = new Set([ATTR.timeToFirstChunk, PARLEY.speechFirstHeard, PARLEY.hearingSpoken]);

/** Returns the ids of the call and tool use that a part belongs to. Ids are not content. */
function idsOf(attributes: Attributes): Pick<TurnPart, "callId" | "toolUseId"> {
  const { [PARLEY.callId]: callId, [ATTR.toolCallId]: toolUseId } = attributes;
  return {
    ...(typeof callId === "string" && { callId }),
    ...(typeof toolUseId === "string" && { toolUseId }),
  };
}
