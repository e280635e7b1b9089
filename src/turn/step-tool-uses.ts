import { toolResultBlock, type TurnBlock } from "../conversation/block.ts";
import { contentText } from "../conversation/content.ts";
import { AppError } from "../errors/app-error.ts";
import type { ToolUse } from "../tool/calls/call-ports.ts";
import type { ModelAnswer } from "../tool/outcome.ts";
import type { TurnDraft } from "./turn-draft.ts";
import type { TurnEvent } from "./turn-event.ts";

/** Runs a turn's tools. In a session this is `SessionCalls`. */
export interface ToolRunner {
  /** Rejects only if the call could not be stored. */
  readonly run: (use: ToolUse) => Promise<ModelAnswer>;
  /** Records a use that must not run, and returns the answer for the model. */
  readonly refuse: (use: ToolUse, why: string) => ModelAnswer;
  /** Whether the tool is read-only and may start while the model is still streaming. */
  readonly startsEarly: (toolName: string) => boolean;
  /**
   * Called when a call to the tool has succeeded. Returns whether that ends the turn.
   *
   * @defaultValue no tool ends the turn
   */
  readonly recordSuccess?: (toolName: string) => boolean;
}

const FAILED_INSIDE = "Outcome unknown: the call failed inside the worker.";

/** An answer for the model and, if the runner itself failed, the error that ends the turn. */
interface Answered {
  readonly answer: ModelAnswer;
  readonly error?: { readonly reason: unknown };
}

/** The tool uses of one step, in call order. `runStep` adds them. After the step, `runTurn` calls `answerAll`. */
export class StepToolUses {
  readonly #uses: { readonly use: ToolUse; readonly early: Promise<Answered> | undefined }[] = [];
  readonly #tools: ToolRunner;
  #endsTurn = false;

  constructor(tools: ToolRunner) {
    this.#tools = tools;
  }

  get count(): number {
    return this.#uses.length;
  }

  /** Whether a tool that ends the turn has succeeded. */
  get endsTurn(): boolean {
    return this.#endsTurn;
  }

  /** Adds a use. A call that may start early starts now; all others start in `answerAll`. */
  add(use: ToolUse): void {
    const startsEarly = use.inputError === undefined && this.#tools.startsEarly(use.toolName);
    this.#uses.push({ use, early: startsEarly ? answered(() => this.#tools.run(use)) : undefined });
  }

  /**
   * Answers every use with one tool_result block, in call order. All calls run concurrently. With `refusal`, no call is
   * started, and the results of calls that started early are discarded; their outcomes are stored only with the calls.
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
      if (!answer.isError && this.#tools.recordSuccess?.(use.toolName)) this.#endsTurn = true;
      yield* emit(draft, use, answer);
    }
    if (error) throw error.reason;
  }

  #refused(use: ToolUse, early: Promise<Answered> | undefined, why: string): Promise<Answered> {
    const discarded = { content: `Result discarded: ${why}`, isError: true };
    return answered(() => (early ? discarded : this.#tools.refuse(use, `Not run: ${why}`)));
  }
}

/**
 * Resolves to the answer for one use. Never rejects, so that the other uses still get their answers if this one fails.
 */
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
  // Add the block to the record before yielding its events, because these are published only once it is stored.
  const block: TurnBlock = draft.put(sequence, toolResultBlock(use.toolUseId, answer));
  yield { type: "block_start", sequence, blockType: "tool_result", tool };
  yield { type: "block_delta", sequence, delta: { type: "tool_result", content: contentText(answer.content) } };
  yield { type: "block_stop", sequence, block };
}
