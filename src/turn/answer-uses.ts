import { toolResultBlock, type TurnBlock } from "../conversation/block.ts";
import { type ToolUse } from "../tool/call-ports.ts";
import { type ModelAnswer } from "../tool/outcome.ts";
import { type TurnDraft } from "./turn-draft.ts";
import { type TurnEvent } from "./turn-event.ts";

/** How a turn runs tools. */
export interface ToolRunner {
  /** Rejects only when the call could not be stored. */
  readonly run: (use: ToolUse) => Promise<ModelAnswer>;
  /** Puts a use that must not run on record. */
  readonly refuse: (use: ToolUse, why: string) => ModelAnswer;
  /** The tool changes nothing, so it may start while the model still streams. */
  readonly startsEarly: (toolName: string) => boolean;
}

const NOT_STORED: ModelAnswer = { content: "Not run: the call could not be stored.", isError: true };

/** The tool uses of one step, in call order. */
export class StepUses {
  readonly #uses: { readonly use: ToolUse; answer: Promise<ModelAnswer> | undefined }[] = [];
  readonly #tools: ToolRunner;

  constructor(tools: ToolRunner) {
    this.#tools = tools;
  }

  get count(): number {
    return this.#uses.length;
  }

  add(use: ToolUse): void {
    const startsEarly = use.inputError === undefined && this.#tools.startsEarly(use.toolName);
    this.#uses.push({ use, answer: startsEarly ? this.#start(use) : undefined });
  }

  /**
   * Answers every use with one tool_result block, in call order; all run at the same time. With `refusal` none is
   * started, and what had started early is not used: its outcome stays on the call's own record.
   */
  async *answerAll(draft: TurnDraft, refusal: string | undefined): AsyncGenerator<TurnEvent> {
    if (refusal === undefined) for (const pending of this.#uses) pending.answer ??= this.#start(pending.use);
    const failures: unknown[] = [];
    for (const { use, answer } of this.#uses) {
      const given = refusal === undefined ? answer : this.#refused(use, answer, refusal);
      yield* emit(
        draft,
        use,
        await given?.catch((reason: unknown) => {
          failures.push(reason);
          return NOT_STORED;
        }),
      );
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Anything that a runner throws is a rejection, so that it costs no other use its answer. */
  async #start(use: ToolUse): Promise<ModelAnswer> {
    return this.#tools.run(use);
  }

  async #refused(use: ToolUse, answer: Promise<ModelAnswer> | undefined, why: string): Promise<ModelAnswer> {
    return answer ? { content: `Result discarded: ${why}`, isError: true } : this.#tools.refuse(use, `Not run: ${why}`);
  }
}

function* emit(draft: TurnDraft, use: ToolUse, answer: ModelAnswer | undefined): Generator<TurnEvent> {
  if (!answer) throw new TypeError("A tool use was never started");
  const sequence = draft.reserve();
  const tool = { toolUseId: use.toolUseId, toolName: use.toolName };
  yield { type: "block_start", sequence, blockType: "tool_result", tool };
  const block: TurnBlock = draft.put(sequence, toolResultBlock(use.toolUseId, answer));
  yield { type: "block_delta", sequence, delta: { type: "tool_result", content: answer.content } };
  yield { type: "block_stop", sequence, block };
}
