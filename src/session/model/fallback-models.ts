import { FallbackOrder } from "../../agent/fallback-order.ts";
import type { HistoryBlock, HistoryMessage } from "../../conversation/history.ts";
import { isThinking } from "../../conversation/shown-context.ts";
import { memoizeByObject } from "../../lib/memoize-by-object.ts";
import { mayAnswerElsewhere, ModelError } from "../../llm/model-error.ts";
import type { ModelEvent } from "../../llm/model-event.ts";
import type { StepRequest } from "../../turn/run-step.ts";
import type { CountTokens, OpenStream } from "./open-stream.ts";

/** A model that an agent may use. */
export interface ListedModel {
  readonly name: string;
  /** Tells models apart that have the same name and different addresses. */
  readonly label: string;
  readonly openStream: OpenStream;
  readonly countTokens: CountTokens;
}

/**
 * The models of an agent's list. If a model fails or is silent before its answer has begun, the next one makes the same
 * call. If it fails later, the turn asks the next one to continue (`ModelError.hasSuccessor`). A model that has failed
 * is called again after a while. Failures that are about the request are not a reason to call another model.
 */
export class FallbackModels {
  readonly #first: ListedModel;
  readonly #order: FallbackOrder<ListedModel>;
  /** Returns a message as a model is shown it, always as the same object. */
  readonly #shownTo: ReadonlyMap<ListedModel, (message: HistoryMessage) => HistoryMessage>;

  constructor(models: readonly [ListedModel, ...ListedModel[]]) {
    this.#first = models[0];
    this.#order = new FallbackOrder(models);
    const shownTo = (model: ListedModel) =>
      memoizeByObject((message: HistoryMessage) => this.#withoutForeignThinking(message, model));
    this.#shownTo = new Map(models.map((model) => [model, shownTo(model)]));
  }

  readonly openStream: OpenStream = (request, signal) => this.#open(request, signal);

  readonly countTokens: CountTokens = async (request, signal) => {
    const [model = this.#first] = this.#order.current;
    const { containerId: _, ...rest } = request;
    return model.countTokens({ ...rest, ...this.#ownParts(model, request) }, signal);
  };

  async *#open(...[request, signal]: Parameters<OpenStream>): AsyncGenerator<ModelEvent, void, undefined> {
    const models = this.#order.current;
    const { containerId: _, ...rest } = request;
    for (const model of models) {
      const isLast = model === models.at(-1);
      let start: Extract<ModelEvent, { type: "message_start" }> | undefined;
      let hasBegun = false;
      yield { type: "model_selected", model: model.name };
      try {
        for await (const event of model.openStream({ ...rest, ...this.#ownParts(model, request) }, signal)) {
          // The same model would be called again, and might be silent for as long as before.
          if (event.type === "retry" && event.reason === "stalled" && !isLast) throw new ModelError("stalled");
          if (event.type === "message_start") {
            start = event;
            continue;
          }
          hasBegun ||= event.type !== "retry";
          // The `message_start` is held back until more follows, so that no message starts twice.
          if (hasBegun && start) yield start;
          if (hasBegun) start = undefined;
          yield markOrigin(event, model);
        }
        return;
      } catch (error) {
        const failure = !signal.aborted && mayAnswerElsewhere(error) ? error : undefined;
        if (failure) this.#order.markFailed(model);
        // Once the answer has begun, the turn continues with another step, which begins with the next model.
        const hasSuccessor = hasBegun ? this.#order.hasReady : !isLast;
        if (!failure || !hasSuccessor) {
          if (start) yield start;
          throw error;
        }
        yield { type: "model_failed", model: model.name, reason: failure.kind, ...(start && { usage: start.usage }) };
        const { kind, status, requestId } = failure;
        if (hasBegun) throw new ModelError(kind, { cause: failure, status, requestId, hasSuccessor });
      }
    }
  }

  /** Returns the parts of a request that a model accepts only if it has written them itself. */
  #ownParts(model: ListedModel, { history, containerId = "" }: StepRequest) {
    const prefix = `${model.label} `;
    return {
      history: history.map((message) => this.#shownTo.get(model)?.(message) ?? message),
      ...(containerId.startsWith(prefix) && { containerId: containerId.slice(prefix.length) }),
    };
  }

  /** Removes the thinking of other models. Thinking from before there was a list is the first model's. */
  #withoutForeignThinking(message: HistoryMessage, { label }: ListedModel): HistoryMessage {
    const isOwn = ({ content }: HistoryBlock) => (content?.["model"] ?? this.#first.label) === label;
    const blocks = message.blocks.filter((block) => !isThinking(block) || isOwn(block));
    return blocks.length === message.blocks.length ? message : { ...message, blocks };
  }
}

/**
 * Marks what only the same model at the same address accepts in later requests: thinking, and the code execution
 * container.
 */
function markOrigin(event: ModelEvent, { label }: ListedModel): ModelEvent {
  if (event.type === "block_stop" && isThinking(event.block))
    return { ...event, block: { ...event.block, content: { ...event.block.content, model: label } } };
  if (event.type === "message_stop" && event.containerId !== undefined)
    return { ...event, containerId: `${label} ${event.containerId}` };
  return event;
}
