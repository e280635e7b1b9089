import { toolResultBlock, type TurnBlock } from "../conversation/block.ts";
import { contentText } from "../conversation/content.ts";
import { AppError } from "../errors/app-error.ts";
import type { ToolUse } from "../tool/calls/call-ports.ts";
import type { ModelAnswer } from "../tool/outcome.ts";
import type { TurnDraft } from "./turn-draft.ts";
import type { TurnEvent } from "./turn-event.ts";

/** How a turn runs tools: in a session, by `SessionCalls`. */
export interface ToolRunner {
  /** Rejects only when the call could not be stored. */
  readonly run: (use: ToolUse) => Promise<ModelAnswer>;
  /** Puts a use that must not run on record, and gives the model's answer. */
  readonly refuse: (use: ToolUse, why: string) => ModelAnswer;
  /** Whether the tool changes nothing, so that it may start while the model still streams. */
  readonly startsEarly: (toolName: string) => boolean;
  /** A call of the tool has succeeded. Whether that is the last thing in its turn. @defaultValue none is */
  readonly noteSuccess?: (toolName: string) => boolean;
}

const FAILED_INSIDE = "Outcome unknown: the call failed inside the worker.";

/** An answer for the model, and the error that ends the turn if the runner itself failed. */
interface Answered {
  readonly answer: ModelAnswer;
  readonly error?: { readonly reason: unknown };
}

/** The tool uses of one step, in call order. `runStep` adds them, and `runTurn` has them answered when it has ended. */
export class StepUses {
  readonly #uses: { readonly use: ToolUse; readonly early: Promise<Answered> | undefined }[] = [];
  readonly #tools: ToolRunner;
  #endsTurn = false;

  constructor(tools: ToolRunner) {
    this.#tools = tools;
  }

  get count(): number {
    return this.#uses.length;
  }

  /** A tool has succeeded after which the turn is over. */
  get endsTurn(): boolean {
    return this.#endsTurn;
  }

  /** A call that may start early is started now, all others by `answerAll`. */
  add(use: ToolUse): void {
    const startsEarly = use.inputError === undefined && this.#tools.startsEarly(use.toolName);
    this.#uses.push({ use, early: startsEarly ? answered(() => this.#tools.run(use)) : undefined });
  }

  /**
   * Answers every use with one tool_result block, in call order; all run at the same time. With `refusal` none is
   * started, and what had started early is not used: its outcome stays on the call's own record.
   *
   * @throws the runner's first error, after every use has its block
   */
  async *answerAll(draft: TurnDraft, refusal: string | undefined): AsyncGenerator<TurnEvent> {
    let error: Answered["error"];
    const pending = this.#uses.map(({ use, early }) => ({
      use,
      answering:
        refusal === undefined ? (early ?? answered(() => this.#tools.run(use))) : this.#refused(use, early, refusal),
    }));
    for (const { use, answering } of pending) {
      const { answer, error: failed } = await answering;
      error ??= failed;
      if (!answer.isError && this.#tools.noteSuccess?.(use.toolName)) this.#endsTurn = true;
      yield* emit(draft, use, answer);
    }
    if (error) throw error.reason;
  }

  #refused(use: ToolUse, early: Promise<Answered> | undefined, why: string): Promise<Answered> {
    const discarded = { content: `Result discarded: ${why}`, isError: true };
    return answered(() => (early ? discarded : this.#tools.refuse(use, `Not run: ${why}`)));
  }
}

/** Never rejects: when one use fails, the others still get their answers. */
async function answered(run: () => ModelAnswer | Promise<ModelAnswer>): Promise<Answered> {
  try {
    return { answer: await run() };
  } catch (reason) {
    const content = reason instanceof AppError ? "Not run: the call could not be stored." : FAILED_INSIDE;
    return { answer: { content, isError: true }, error: { reason } };
  }
}

function* emit(draft: TurnDraft, use: ToolUse, answer: ModelAnswer): Generator<TurnEvent> {
  const sequence = draft.reserve();
  const tool = { toolUseId: use.toolUseId, toolName: use.toolName };
  // Handed to the record before its events, which are told once it is stored.
  const block: TurnBlock = draft.put(sequence, toolResultBlock(use.toolUseId, answer));
  yield { type: "block_start", sequence, blockType: "tool_result", tool };
  yield { type: "block_delta", sequence, delta: { type: "tool_result", content: contentText(answer.content) } };
  yield { type: "block_stop", sequence, block };
}
