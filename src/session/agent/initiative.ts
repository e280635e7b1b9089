import type { IdleStep } from "../../agent/agent-fields.ts";
import type { Participants } from "../participants/participants.ts";
import { endsTurn, type SessionEvent } from "../events/session-event.ts";
import type { CallEnd } from "./call-end.ts";
import type { ConversationArchive } from "../record/conversation-archive.ts";
import type { VoicePort } from "../room/voice-port.ts";
import { Greetings, type GreetingsOptions } from "./greetings.ts";
import { Idle } from "./idle.ts";

interface InitiativeOptions extends Pick<GreetingsOptions, "agents" | "begin" | "logger"> {
  readonly archive: Pick<ConversationArchive, "hasTurnsOf">;
  readonly participants: Pick<Participants, "isPresent" | "present">;
  readonly voice?: Pick<VoicePort, "untilQuiet"> | undefined;
  /** @defaultValue the agent cannot end calls */
  readonly callEnd?: CallEnd | undefined;
  /** Whether a participant is present, and no turn, tool or question is open. */
  readonly isPause: () => boolean;
}

/** What the agent does unprompted: it greets participants, speaks after a silence, and ends the call. */
export class Initiative {
  readonly #options: InitiativeOptions;
  readonly #greetings: Greetings;
  readonly #idle: Idle;
  readonly #unfollow: () => void;
  #lastSpeaker: string | undefined;

  constructor(options: InitiativeOptions) {
    const { agents, archive, participants, voice, isPause, begin, logger } = options;
    this.#options = options;
    this.#greetings = new Greetings({
      agents,
      hasTurns: (identity) => archive.hasTurnsOf(identity),
      isPresent: (identity) => participants.isPresent(identity),
      begin,
      logger,
    });
    this.#idle = new Idle({
      steps: () => agents.current.idle,
      isPause,
      untilQuiet: async (signal) => voice?.untilQuiet(signal),
      act: (step) => this.#act(step),
    });
    // After a change of the agent, its `idle` steps start from the first one.
    this.#unfollow = agents.onChanged(() => this.#idle.handleActivity());
  }

  handleJoined(participant: { readonly identity: string; readonly isSip: boolean }): void {
    this.#options.agents.decide();
    this.#greetings.handleJoined(participant);
    this.#idle.handleActivity();
  }

  handleReady(identity: string): void {
    this.#greetings.handleReady(identity);
  }

  handleLeft(identity: string): void {
    this.#greetings.handleLeft(identity);
  }

  /** Call this when a participant has spoken or typed something, or is about to. */
  handleUserActivity(identity: string): void {
    this.#lastSpeaker = identity;
    this.#greetings.handleUserActivity(identity);
    this.#idle.handleActivity();
    this.#options.callEnd?.handleUserActivity(identity);
  }

  watch(event: SessionEvent): void {
    this.#options.callEnd?.watch(event);
    const isDone =
      (event.type === "turn" && endsTurn(event)) ||
      (event.type === "tool_state" && event.call.outcome !== undefined) ||
      event.type === "permission_replied";
    if (isDone) this.#idle.handleWork();
  }

  close(): void {
    this.#unfollow();
    this.#greetings.close();
    this.#idle.close();
  }

  #act(step: IdleStep): void {
    const { callEnd } = this.#options;
    const words = "say" in step ? step.say : step.end;
    const participant = this.#to();
    if (words === true) return callEnd?.now();
    // Nobody is present to hear the words.
    if (participant === undefined) return;
    const note = `Nobody has said anything for ${Math.round(step.afterMs / 1_000)} s.`;
    const input = {
      type: "note",
      note,
      say: words,
      ...(step.interruptible === false && { isInterruptible: false as const }),
      ...("end" in step && { endsCall: true as const }),
    } as const;
    try {
      this.#options.begin({ participant, messageId: null, input: [input] });
    } catch (error) {
      this.#options.logger.warn({ error }, "idle message failed");
    }
  }

  /** Returns the participant for a turn that the agent starts: the last speaker if present, or else anyone present. */
  #to(): string | undefined {
    const { participants } = this.#options;
    const last = this.#lastSpeaker;
    return last !== undefined && participants.isPresent(last) ? last : participants.present[0]?.identity;
  }
}
