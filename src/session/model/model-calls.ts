import type { TurnRecord } from "../../conversation/turn-record.ts";
import type { StepRequest } from "../../turn/run-step.ts";
import type { ContextLimits } from "../../turn/next-call.ts";
import type { ContextWindow } from "../../turn/context-window.ts";
import type { MediaData } from "../../llm/to-messages.ts";
import type { ModelEvent } from "../../llm/model-event.ts";
import type { HistoryMessage } from "../../conversation/history.ts";
import type { VoicePort } from "../room/voice-port.ts";
import {
  overheadOf,
  toClientToolDefinition,
  type ChatObserver,
  type CountTokens,
  type Offer,
  type OpenStream,
} from "./open-stream.ts";
import { PreemptiveGeneration, type StreamRequest } from "./preemptive-generation.ts";

export interface ModelCallsOptions {
  readonly policy: {
    readonly model: string;
    readonly context: Pick<ContextLimits, "inlineTools"> & { readonly instructionBytes: number };
    readonly speculates?: boolean;
  };
  readonly calls: {
    readonly offer: (participant: string, shown: { readonly isCompacted: boolean }) => Offer;
  };
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?:
    | {
        readonly instructions: string;
        readonly instructionBytes: number;
        readonly current: { readonly model: string };
      }
    | undefined;
  /** Calls the current agent's model. */
  readonly openStream: OpenStream;
  readonly countTokens?: CountTokens | undefined;
  /** Loads the media that a history refers to. Returns `undefined` if it refers to none. */
  readonly media: { readonly of: (history: readonly HistoryMessage[]) => Promise<MediaData> | undefined };
  readonly spending: {
    /** Wraps a model so that its calls are counted, and no more are made once a budget is used up. */
    readonly limited: (openStream: OpenStream, model: () => string) => OpenStream;
  };
  readonly telemetry: {
    readonly observeChat: ChatObserver;
    readonly recordPreemptiveGeneration: (end: "adopted" | "void") => void;
    readonly recordModelFallback: (model: string, reason: string) => void;
  };
  readonly voice?: Pick<VoicePort, "prepare"> | undefined;
  readonly participants: { readonly get: (identity: string) => { readonly language: string | undefined } | undefined };
  /** The hook `onAnswer`. */
  readonly answers: {
    readonly isSet: boolean;
    readonly check: (
      stream: AsyncIterable<ModelEvent>,
      turn: { readonly participant: string; readonly signal: AbortSignal },
    ) => AsyncIterable<ModelEvent>;
  };
}

/**
 * Makes the model calls of a session's turns, and preemptive calls before a turn begins. Each step of a turn goes
 * through these stages, in order:
 *
 * 1. the offer: the tools that the participant's turn may use
 * 2. the agent's instructions
 * 3. the preemptive answer, if its request was identical; otherwise
 * 4. the media that the history refers to
 * 5. the budget: once it is used up, no call is made; every call made is counted
 * 6. the models of the current agent: if one fails, the next one makes the call (`FallbackModels`)
 * 7. the model; a tool that its API rejects is dropped, and the call repeated (`createOpenStream`)
 * 8. the observer, which sees each attempt
 * 9. the hook `onAnswer`, which may change what the model writes. It isn't called for preemptive answers until a turn
 *    uses them
 */
export class ModelCalls {
  readonly #options: ModelCallsOptions;
  readonly #shown: () => ContextWindow;
  readonly #speculations: PreemptiveGeneration | undefined;
  /** Runs stages 4 to 8 of a model call. */
  readonly #openStream: OpenStream;

  /** @param shown returns the context window */
  constructor(options: ModelCallsOptions, shown: () => ContextWindow) {
    this.#options = options;
    this.#shown = shown;
    const { policy, telemetry, spending, agents, openStream } = options;
    if (policy.speculates)
      this.#speculations = new PreemptiveGeneration((end) => telemetry.recordPreemptiveGeneration(end));
    const limited = spending.limited(this.#withMetric(openStream), () => agents?.current.model ?? policy.model);
    this.#openStream = this.#withMedia(limited);
  }

  /** Returns what a new turn needs to call the model, and to measure what a request contains besides the history. */
  beginTurn(participant: string) {
    this.#speculations?.beginTurn();
    const { countTokens, media, answers } = this.#options;
    return {
      openStream: (request: StepRequest, aborted: AbortSignal) => {
        const stream = this.#open(this.#toStreamRequest(participant, request), aborted);
        return answers.check(stream, { participant, signal: aborted });
      },
      countTokens: async (request: StepRequest, aborted: AbortSignal) => {
        if (!countTokens) return undefined;
        const data = await media.of(request.history);
        return countTokens({ ...this.#toStreamRequest(participant, request), ...(data && { media: data }) }, aborted);
      },
      ...this.#sizes(participant),
    };
  }

  /**
   * Makes the first model call of a turn that may begin soon, if `mayCome()` still returns `true` once the request is
   * ready. Never rejects.
   */
  async speculate(turn: TurnRecord, mayCome: () => boolean): Promise<void> {
    if (!this.#speculations?.mayBegin) return;
    const { voice, participants, answers } = this.#options;
    const { participantIdentity: participant } = turn;
    const { overheadFor, temporaryTools } = this.#sizes(participant);
    // If the API would have to count tokens first, no preemptive call is made: counting would use up the time saved.
    const count = () => Promise.reject(new Error("Preemptive generation does not count tokens"));
    const shown = this.#shown();
    const next = { turn, isPaused: false, overheadFor, temporaryTools: temporaryTools(), count };
    const history = await shown.fit(next).catch(() => undefined);
    if (!history || !mayCome()) return;
    const streamRequest = this.#toStreamRequest(participant, {
      history,
      isCompacted: shown.isCompacted,
      toolChoice: "auto",
    });
    const language = participants.get(participant)?.language;
    // With a hook, the voice gets only words that the hook has checked.
    const speaking = answers.isSet ? undefined : voice;
    const prepare = speaking && ((piece: string) => speaking.prepare(piece, language));
    this.#speculations.begin(streamRequest, { openStream: this.#openStream, language, prepare });
  }

  /** Runs stages 3 to 8 of a turn's model call. */
  #open(request: StreamRequest, aborted: AbortSignal): AsyncIterable<ModelEvent> {
    const { observeChat } = this.#options.telemetry;
    const held = this.#speculations?.take(request);
    if (held) return observeChat(held.call, held.stream(aborted));
    return this.#openStream({ ...request, observe: observeChat }, aborted);
  }

  /** Cuts off the preemptive call. */
  drop(): void {
    this.#speculations?.drop();
  }

  #sizes(participant: string) {
    const { policy, calls, agents } = this.#options;
    return {
      overheadFor: (shown: { readonly isCompacted: boolean }) => {
        const { inlineTools = false } = policy.context;
        const { instructionBytes } = agents ?? policy.context;
        const { tools } = calls.offer(participant, shown);
        return overheadOf(inlineTools ? tools.filter(({ isTemporary }) => !isTemporary) : tools, instructionBytes);
      },
      temporaryTools: () => calls.offer(participant, { isCompacted: false }).tools.flatMap(toClientToolDefinition),
    };
  }

  #toStreamRequest(participant: string, request: StepRequest): StreamRequest {
    const { instructions } = this.#options.agents ?? {};
    const offer = this.#offer(participant, request);
    return { ...request, ...offer, participant, ...(instructions !== undefined && { instructions }) };
  }

  /**
   * Returns the tools for a model call. If the API rejects a tool, the tool's announcement is removed from the history,
   * too.
   */
  #offer(participant: string, shown: { readonly isCompacted: boolean }): Offer {
    const offer = this.#options.calls.offer(participant, shown);
    const onRefusedTool: Offer["onRefusedTool"] = (tool, field) => {
      this.#shown().withdraw(tool.name);
      offer.onRefusedTool(tool, field);
    };
    return { ...offer, onRefusedTool };
  }

  #withMetric(openStream: OpenStream): OpenStream {
    const { telemetry } = this.#options;
    return async function* openCounted(request, signal) {
      for await (const event of openStream(request, signal)) {
        if (event.type === "model_failed") telemetry.recordModelFallback(event.model, event.reason);
        yield event;
      }
    };
  }

  /** Adds the media that the history refers to. Waits only if there are any. */
  #withMedia(openStream: OpenStream): OpenStream {
    return (request, signal) => {
      const named = this.#options.media.of(request.history);
      if (!named) return openStream(request, signal);
      return later(named.then((media) => openStream({ ...request, media }, signal)));
    };
  }
}

async function* later<Event>(opened: Promise<AsyncIterable<Event>>): AsyncGenerator<Event> {
  yield* await opened;
}
