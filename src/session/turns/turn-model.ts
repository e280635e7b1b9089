import type { TurnRecord } from "../../conversation/turn-record.ts";
import type { StepRequest } from "../../turn/run-step.ts";
import type { ContextLimits } from "../../turn/next-call.ts";
import type { ShownTalk } from "../../turn/shown-talk.ts";
import type { VoicePort } from "../room/voice-port.ts";
import {
  othersOf,
  toToldTool,
  type ChatObserver,
  type CountTokens,
  type Offer,
  type OpenStream,
} from "./open-stream.ts";
import { Speculations } from "./speculations.ts";

interface TurnModelOptions {
  readonly policy: {
    readonly context: Pick<ContextLimits, "inlineTools"> & { readonly instructionBytes: number };
    readonly speculates?: boolean;
  };
  readonly calls: {
    /** The tools that this participant's turn may use. */
    readonly offer: (participant: string, talk: { readonly isCut: boolean }) => Offer;
  };
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: { readonly instructions: string; readonly instructionBytes: number } | undefined;
  readonly openStream: OpenStream;
  readonly countTokens?: CountTokens | undefined;
  readonly telemetry: {
    readonly observeChat: ChatObserver;
    readonly noteSpeculation: (end: "adopted" | "void") => void;
  };
  readonly voice?: Pick<VoicePort, "prepare"> | undefined;
  readonly peers: { readonly get: (identity: string) => { readonly language: string | undefined } | undefined };
}

/** Asks the session's model for its turns: with the tools of the participant, and sometimes ahead of the turn. */
export class TurnModel {
  readonly #options: TurnModelOptions;
  readonly #shown: () => ShownTalk;
  readonly #speculations: Speculations | undefined;

  /** @param shown gives what the model is shown of earlier turns */
  constructor(options: TurnModelOptions, shown: () => ShownTalk) {
    this.#options = options;
    this.#shown = shown;
    const { policy, telemetry } = options;
    if (policy.speculates) this.#speculations = new Speculations((end) => telemetry.noteSpeculation(end));
  }

  /** What one turn needs to ask the model, and to measure what goes with the history. */
  of(participant: string) {
    this.#speculations?.noteTurn();
    return this.#of(participant);
  }

  #of(participant: string) {
    const { policy, calls, openStream, countTokens, telemetry, agents } = this.#options;
    return {
      openStream: (request: StepRequest, aborted: AbortSignal) => {
        const asked = this.#asked(participant, request);
        const held = this.#speculations?.take(asked);
        if (held) return telemetry.observeChat(held.call, held.stream(aborted));
        return openStream({ ...asked, observe: telemetry.observeChat }, aborted);
      },
      countTokens: async (request: StepRequest, aborted: AbortSignal) =>
        countTokens?.({ ...request, ...calls.offer(participant, request) }, aborted),
      others: (shownPart: { readonly isCut: boolean }) => {
        const { inlineTools = false } = policy.context;
        const { instructionBytes } = agents ?? policy.context;
        const { tools } = calls.offer(participant, shownPart);
        return othersOf(inlineTools ? tools.filter(({ mayGo }) => !mayGo) : tools, instructionBytes);
      },
      passingTools: () => calls.offer(participant, { isCut: false }).tools.flatMap(toToldTool),
    };
  }

  /** Makes the first model call of a turn that may begin soon, if `mayCome` is still true then. Never rejects. */
  async speculate(turn: TurnRecord, mayCome: () => boolean): Promise<void> {
    if (!this.#speculations?.mayBegin) return;
    const { openStream, voice, peers } = this.#options;
    const { participantIdentity: participant } = turn;
    const { others, passingTools } = this.#of(participant);
    // No call is made ahead if the API would have to count first, because that takes the time that would be won.
    const count = () => Promise.reject(new Error("It cannot be known at once"));
    const shown = this.#shown();
    const next = { turn, isPaused: false, others, passingTools: passingTools(), count };
    const history = await shown.fit(next).catch(() => undefined);
    if (!history || !mayCome()) return;
    const asked = this.#asked(participant, { history, isCut: shown.isCut, toolChoice: "auto" });
    const language = peers.get(participant)?.language;
    const prepare = voice && ((sentence: string) => voice.prepare(sentence, language));
    this.#speculations.begin(asked, { openStream, language, prepare });
  }

  /** Cuts off a call that was made ahead. */
  drop(): void {
    this.#speculations?.drop();
  }

  #asked(participant: string, request: StepRequest) {
    const { instructions } = this.#options.agents ?? {};
    const offer = this.#offer(participant, request);
    return { ...request, ...offer, participant, ...(instructions !== undefined && { instructions }) };
  }

  /** Also takes a tool that the API refuses out of what the history tells. */
  #offer(participant: string, talk: { readonly isCut: boolean }): Offer {
    const offer = this.#options.calls.offer(participant, talk);
    const onRefusedTool: Offer["onRefusedTool"] = (tool, field) => {
      this.#shown().withdraw(tool.name);
      offer.onRefusedTool(tool, field);
    };
    return { ...offer, onRefusedTool };
  }
}
