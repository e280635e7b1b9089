import { danglingUses, toolUseId, type TurnBlock } from "../conversation/block.ts";
import { textBlock, type HistoryMessage } from "../conversation/history.ts";
import { UsedIds } from "../conversation/steps.ts";
import { endAfterAbort } from "../conversation/turn-abort.ts";
import type { ShownContext, ClientToolDefinition, TurnRecord } from "../conversation/turn-record.ts";
import { AppError, toAppError } from "../errors/app-error.ts";
import { incrementalFlatMap } from "../lib/incremental-flat-map.ts";
import { asText, isRecord } from "../lib/json.ts";
import { ModelError, type ModelErrorKind } from "../llm/model-error.ts";
import { addUsage, NO_USAGE, type StopReason, type Usage } from "../llm/model-event.ts";
import { StepToolUses, type ToolRunner } from "./step-tool-uses.ts";
import { runStep, toToolUse, type StepDependencies, type StepEnd, type StepRequest } from "./run-step.ts";
import type { ContextWindow } from "./context-window.ts";
import type { RequestOverhead } from "./token-gauge.ts";
import { TurnDraft, type BlockRecord } from "./turn-draft.ts";
import type { TurnEnd, TurnEvent } from "./turn-event.ts";

export interface TurnDependencies {
  readonly model: string;
  readonly openStream: StepDependencies["openStream"];
  readonly tools: ToolRunner;
  /** Answers the tool uses that an earlier worker left without a result. @defaultValue `tools.run` */
  readonly resume?: ToolRunner["run"];
  readonly record: BlockRecord;
  /** What is sent in addition to the history in the next model call. */
  readonly overheadFor: (shown: Pick<StepRequest, "isCompacted">) => RequestOverhead;
  /** The tools that can be called now and may be removed later. @defaultValue none */
  readonly temporaryTools?: () => readonly ClientToolDefinition[];
  /**
   * Called when this turn's context differs from the previous turn's. The context must be stored, because a worker that
   * resumes the turn needs it.
   */
  readonly onShown?: (context: ShownContext) => void;
  /**
   * Counts a request's tokens with the API. Resolves to `undefined` if the API does not report them. Rejects only when
   * aborted.
   */
  readonly countTokens: (request: StepRequest, signal: AbortSignal) => Promise<number | undefined>;
  /**
   * The number of model calls that may use tools. When they are used up, one last call without tools produces the
   * answer.
   */
  readonly maxSteps: number;
}

const MAX_PAUSES = 5;
const CONTINUE = "[Your reply was cut off by its length limit. Continue exactly where it stopped.]";

/**
 * Runs one turn: calls the model and the tools it asks for, until it asks for none. After each step, waits until
 * `tools` has answered every tool use. Never throws, and always ends with `turn_complete`. An aborted turn ends as
 * `interrupted`, `cancelled` or `failed`, depending on the kind of abort; a turn that breaks ends as `failed`. When the
 * turn ends, each tool use has its result. The caller must make the last blocks durable.
 */
export async function* runTurn(
  turns: { readonly shown: ContextWindow; readonly turn: TurnRecord },
  deps: TurnDependencies,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void> {
  const progress: Progress = { usage: NO_USAGE, stopReason: undefined };
  const { turns: past, context, summary } = turns.shown;
  yield { type: "turn_start", model: deps.model };
  let end: Pick<TurnEnd, "state" | "error">;
  try {
    yield* runSteps(turns, { deps, progress }, signal);
    end = { state: "completed", error: undefined };
  } catch (error) {
    end = signal.aborted ? endAfterAbort(signal) : { state: "failed", error: toAppError(error) };
    // Undo the drops, because they did not make the request acceptable.
    if (progress.usage === NO_USAGE && isRefusal(end.error)) {
      turns.shown.restore({ turns: past, context, summary });
      deps.onShown?.(context);
    }
  }
  yield { type: "turn_complete", ...end, ...progress };
}

/** Whether the same request would be refused again. */
const isRefusal = (error: AppError | undefined) => error?.code === "too_large" || error?.code === "invalid_state";

interface Progress {
  usage: Usage;
  model?: string;
  stopReason: TurnEnd["stopReason"];
}

async function* runSteps(
  { shown, turn }: { readonly shown: ContextWindow; readonly turn: TurnRecord },
  { deps, progress }: { readonly deps: TurnDependencies; readonly progress: Progress },
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void> {
  const draft = new TurnDraft(turn, deps.record);
  let known: UsedIds | undefined;
  const usedIds = () => (known ??= idsOf(shown.turns, turn));
  const retries = { pauses: 0, continuations: 0 };
  const requests = new StepRequests(shown, deps, signal);
  yield* answerDangling(turn, { deps, draft }, signal);
  progress.stopReason = isEndedBy(draft.toRecord().blocks, deps.tools) ? "tool_use" : endingReason(turn);
  if (progress.stopReason !== undefined) return;
  for (let step = 1; ; step++) {
    const isLast = step > deps.maxSteps;
    const uses = new StepToolUses(deps.tools);
    const request = await requests.next(draft.toRecord(), progress.stopReason, isLast ? "none" : "auto");
    const stepDeps = { draft, openStream: deps.openStream, uses, usedIds };
    const end = yield* runStep(request, stepDeps, signal);
    requests.learnFrom(end);
    if (end.usage) {
      progress.usage = addUsage(progress.usage, end.usage);
      yield { type: "usage", step, usage: end.usage };
    }
    if (end.model !== undefined) progress.model = end.model;
    progress.stopReason = end.stopReason;
    if (uses.count > 0) {
      yield* uses.answerAll(draft, refusalOf(end, isLast, signal));
      signal.throwIfAborted();
      if (!end.error) await draft.durable();
      if (uses.endsTurn) return;
    }
    if (dropRejected(end, shown, draft)) continue;
    if (hasSuccessor(end) && !isLast) {
      await draft.durable();
      continue;
    }
    if (end.error) throw end.error.reason;
    signal.throwIfAborted();
    switch (nextAfter(end.stopReason, uses.count > 0, retries)) {
      case "shorten":
        if (!shown.shorten(draft.toRecord())) return;
        continue;
      case "continue":
        if (!isLast) continue;
        progress.stopReason = "step_limit";
        return;
      case "end":
        return;
    }
  }
}

/** Builds the requests of a turn's model calls. */
class StepRequests {
  readonly #shown: ContextWindow;
  readonly #deps: TurnDependencies;
  readonly #signal: AbortSignal;
  #container: Pick<StepRequest, "containerId"> = {};

  constructor(shown: ContextWindow, deps: TurnDependencies, signal: AbortSignal) {
    this.#shown = shown;
    this.#deps = deps;
    this.#signal = signal;
  }

  /**
   * Returns the next request. Makes room in the window for the turn, and stores the window if it has changed.
   *
   * @param lastReason the stop reason of the previous call
   */
  async next(
    turn: TurnRecord,
    lastReason: TurnEnd["stopReason"],
    toolChoice: StepRequest["toolChoice"],
  ): Promise<StepRequest> {
    const deps = this.#deps;
    const isPaused = lastReason === "pause_turn";
    const requestOf = (built: readonly HistoryMessage[]): StepRequest => {
      const history = isPaused ? built : continued(built);
      return { history, isCompacted: this.#shown.isCompacted, toolChoice, ...this.#container };
    };
    const built = await this.#shown.fit({
      turn,
      isPaused,
      temporaryTools: deps.temporaryTools?.() ?? [],
      overheadFor: deps.overheadFor,
      count: (counted) => deps.countTokens(requestOf(counted), this.#signal),
    });
    const change = this.#shown.takeChange();
    if (change) deps.onShown?.(change);
    return requestOf(built);
  }

  /** Records a finished call's prompt size and container, because the next request depends on them. */
  learnFrom({ promptTokens, containerId }: StepEnd): void {
    if (promptTokens !== undefined) this.#shown.measure(promptTokens);
    if (containerId !== undefined) this.#container = { containerId };
  }
}

/** Removes rejected content from the window. Returns whether the call must be repeated without that content. */
function dropRejected(end: StepEnd, shown: ContextWindow, draft: TurnDraft): boolean {
  return (
    (isTooLong(end) && shown.shorten(draft.toRecord())) ||
    (isOfKind(end, "unbound_thinking") && shown.dropThinking(draft.toRecord())) ||
    (isOfKind(end, "refused_media", "invalid_request") && shown.dropMedia(draft.toRecord()))
  );
}

/**
 * Whether the API rejected the request for its size. Nothing was streamed yet, and the next request drops older turns.
 */
function isTooLong({ error }: StepEnd): boolean {
  return error?.reason instanceof AppError && error.reason.code === "too_large";
}

/**
 * Whether the API's error is of one of these kinds: it rejected a picture or document, or it rejected thinking because
 * something before the thinking has changed. Nothing was streamed yet, and the next request omits the rejected content,
 * because otherwise every later turn would fail. The API has no error type for pictures, so `invalid_request` may also
 * be about a picture.
 */
function isOfKind({ error }: StepEnd, ...kinds: readonly ModelErrorKind[]): boolean {
  const reason = error?.reason;
  return reason instanceof AppError && "kind" in reason && kinds.some((kind) => kind === reason.kind);
}

/** Whether the answer was cut off because a model failed, and the next model of the agent's list can continue it. */
function hasSuccessor({ error }: StepEnd): boolean {
  return error?.reason instanceof ModelError && error.reason.hasSuccessor;
}

/** Adds the missing results of a resumed turn, in call order. */
async function* answerDangling(
  turn: TurnRecord,
  { deps, draft }: { readonly deps: TurnDependencies; readonly draft: TurnDraft },
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void> {
  const dangling = danglingUses(turn.blocks);
  if (dangling.length === 0) return;
  const uses = new StepToolUses({ ...deps.tools, run: deps.resume ?? deps.tools.run });
  for (const block of dangling) uses.add(toToolUse(block, storedInputError(block)));
  yield* uses.answerAll(draft, undefined);
  signal.throwIfAborted();
  await draft.durable();
}

/**
 * Returns the stop reason with which the model ended the turn, if the worker died right afterwards. The model must not
 * be called again, because it might repeat its tool calls.
 */
function endingReason({ lastStopReason }: TurnRecord): StopReason | undefined {
  return nextAfter(lastStopReason, true, { pauses: 0, continuations: 0 }) === "end" ? lastStopReason : undefined;
}

/**
 * Whether a tool result at the end of the turn's blocks ends the turn. This happens if the worker died right after
 * storing the result. Calls `recordSuccess` again for each successful result at the end.
 */
export function isEndedBy(blocks: readonly TurnBlock[], { recordSuccess }: ToolRunner): boolean {
  const results = blocks.slice(blocks.findLastIndex(({ blockType }) => blockType !== "tool_result") + 1);
  const ends = results
    .filter(({ content }) => content?.["is_error"] !== true)
    .map((result) => blocks.find((block) => block !== result && toolUseId(block) === toolUseId(result)))
    .map((use) => recordSuccess?.(asText(use?.content?.["tool_name"])));
  return ends.includes(true);
}

/** Returns an error for arguments stored as `{_raw}`: they were unreadable, and the original error was not stored. */
function storedInputError({ content }: TurnBlock): string | undefined {
  const input = content?.["input"];
  const isRaw = isRecord(input) && Object.keys(input).join() === "_raw";
  return isRaw ? "The arguments are not a JSON object" : undefined;
}

/** Returns what follows a complete model call. Counts pauses and continuations in `retries`. */
function nextAfter(
  stopReason: StopReason | undefined,
  hasUses: boolean,
  retries: { pauses: number; continuations: number },
): "continue" | "shorten" | "end" {
  switch (stopReason) {
    case "tool_use":
      return hasUses ? "continue" : "end";
    case "pause_turn":
      return ++retries.pauses <= MAX_PAUSES ? "continue" : "end";
    case "max_tokens":
      return ++retries.continuations <= 1 ? "continue" : "end";
    case "model_context_window_exceeded":
      return "shorten";
    default:
      return "end";
  }
}

/**
 * Returns why the step's tools must not run. `undefined` means that they may: the message is complete and ended with
 * `tool_use`.
 */
function refusalOf(end: StepEnd, isLast: boolean, signal: AbortSignal): string | undefined {
  if (signal.aborted) return "the reply was interrupted";
  if (end.error) return "the reply failed before it was complete";
  if (end.stopReason !== "tool_use") return `the reply was cut off (${end.stopReason ?? "no stop reason"})`;
  return isLast ? "no more tools may be used in this turn" : undefined;
}

/**
 * Adds a user message that asks the model to continue its cut-off reply, because the API rejects a history that ends
 * with a reply.
 */
function continued(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  if (history.at(-1)?.role !== "assistant") return history;
  return [...history, { role: "user", blocks: [textBlock(CONTINUE)] }];
}

function idsOf(shown: readonly TurnRecord[], turn: TurnRecord): UsedIds {
  const past = usesOf(shown);
  const ids = new UsedIds({ has: (id) => past.includes(id) });
  for (const id of usesIn(turn)) ids.add(id);
  return ids;
}

const usesIn = ({ blocks }: TurnRecord) =>
  blocks.filter(({ blockType }) => blockType === "tool_use").map((block) => toolUseId(block) ?? "");
const usesOf = incrementalFlatMap(usesIn);
