import type { Call } from "../../conversation/call.ts";
import { AGENT_STATE_ATTRIBUTE, LIVEKIT_STATE_ATTRIBUTE } from "../../protocol/attributes.ts";
import { endsTurn, type SessionWatcher } from "./session-event.ts";

/** How long a state must last to be published. */
const SETTLE_MS = 40;

/**
 * Publishes the agent's state to ordinary LiveKit clients, as attributes of its participant. Nothing is published
 * before the first `publish` or after `close`.
 */
export class AgentState {
  readonly #publish: (attributes: Record<string, string>) => void;
  readonly #openCalls = new Set<string>();
  #isTurnRunning = false;
  #isSpeaking = false;
  #isShown = false;
  #last = "";
  #timer: NodeJS.Timeout | undefined;

  /** @param publish must not throw */
  constructor(publish: (attributes: Record<string, string>) => void) {
    this.#publish = publish;
  }

  /** Publishes the current state, even if it has not changed, and then every change. */
  publish(): void {
    this.#isShown = true;
    this.#last = "";
    this.#say();
  }

  close(): void {
    this.#isShown = false;
    clearTimeout(this.#timer);
  }

  readonly watch: SessionWatcher = (event) => {
    if (event.type === "turn" && event.event.type === "turn_start") this.#isTurnRunning = true;
    if (event.type === "turn" && endsTurn(event)) this.#isTurnRunning = false;
    if (event.type === "tool_state") this.#handleCall(event.call);
    this.#update();
  };

  setSpeaking(isSpeaking: boolean): void {
    this.#isSpeaking = isSpeaking;
    this.#update();
  }

  #handleCall({ id, outcome }: Call): void {
    if (outcome) this.#openCalls.delete(id);
    else this.#openCalls.add(id);
  }

  #update(): void {
    this.#timer ??= setTimeout(() => this.#say(), SETTLE_MS);
  }

  #say(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isShown) return;
    const busy = this.#isTurnRunning ? "thinking" : "listening";
    const state = this.#isSpeaking ? "speaking" : busy;
    const own = this.#isTurnRunning && this.#openCalls.size > 0 ? "using_tool" : state;
    if (this.#last === `${state} ${own}`) return;
    this.#last = `${state} ${own}`;
    // LiveKit defines `lk.agent.state`. It has no value for a running tool.
    this.#publish({ [LIVEKIT_STATE_ATTRIBUTE]: state, [AGENT_STATE_ATTRIBUTE]: own });
  }
}
