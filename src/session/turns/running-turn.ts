import type { TurnBlock } from "../../conversation/block.ts";
import type { InputPart, TurnRecord } from "../../conversation/turn-record.ts";
import type { AnswerOutput } from "../answer/answer-output.ts";
import type { SpokenTimes } from "../room/voice-port.ts";
import type { NewTurn } from "./turn-queue.ts";

/** A participant who continues this soon after the first sound of the answer had not finished. */
const CONTINUES_WITHIN_MS = 600;

interface RunningTurnOptions {
  readonly turn: TurnRecord;
  readonly answer: Pick<AnswerOutput, "silence" | "heardAt">;
  /** The blocks so far. Grows while the turn runs. */
  readonly blocks: readonly TurnBlock[];
  /** When the question was spoken. Undefined if it was not. */
  readonly spoken: SpokenTimes | undefined;
}

/** The turn that is being answered or spoken, or was so last, until the next turn is prepared. */
export class RunningTurn {
  readonly #options: RunningTurnOptions;
  /** When the turn and its speech ended, in Unix ms. */
  #endedAt: number | undefined;
  /** Whether the answer was heard to its end. */
  #isHeard = false;

  constructor(options: RunningTurnOptions) {
    this.#options = options;
  }

  get answer(): RunningTurnOptions["answer"] {
    return this.#options.answer;
  }

  /** The ids of the turn, of its answer and of its message. A ControlStop may refer to any of them. Empty at the end. */
  get ids(): readonly string[] {
    if (this.#endedAt !== undefined) return [];
    const { id, messageId, parentMessageId } = this.#options.turn;
    return [id, messageId, parentMessageId ?? ""];
  }

  /** @param heard what was heard of the answer if its speech was cut off */
  end({ heard }: Pick<TurnRecord, "heard">): void {
    this.#endedAt = Date.now();
    this.#isHeard = heard === undefined;
  }

  /**
   * If an utterance continues this turn's question, returns a turn for both, which replaces this one: the worker began
   * to answer before the participant had finished. Otherwise returns the utterance's own turn. A turn that has called a
   * tool is not replaced.
   */
  continuedBy(next: NewTurn): NewTurn {
    const { turn, answer, blocks, spoken } = this.#options;
    if (this.#isHeard || !spoken || !next.spoken || turn.participantIdentity !== next.participant) return next;
    const since = answer.heardAt ?? this.#endedAt;
    if (since !== undefined && next.spoken.fromAt > since + CONTINUES_WITHIN_MS) return next;
    if (blocks.some(({ blockType }) => blockType.endsWith("tool_use"))) return next;
    const text = `${wordsOf(turn.input).replace(/[.…]+$/u, "")} ${wordsOf(next.input)}`.trim();
    return {
      ...next,
      input: [{ type: "text", text }],
      spoken: { ...next.spoken, fromAt: spoken.fromAt },
      replaces: turn,
    };
  }
}

function wordsOf(input: readonly InputPart[]): string {
  return input.flatMap((part) => (part.type === "text" ? (part.original ?? part.text) : [])).join(" ");
}
