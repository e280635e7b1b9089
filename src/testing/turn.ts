import type { Call, CallState } from "../conversation/call.ts";
import { inputText, type TurnRecord, type TurnState } from "../conversation/turn-record.ts";
import type { JsonObject } from "../lib/json.ts";
import type { PermissionRecord } from "../store/permissions/load-permissions.ts";
import { endsTurn, type SessionEvent, type SessionWatcher } from "../session/events/session-event.ts";

/** A tool call as a test sees it. It may change after its turn, because a background call ends later. */
export interface SeenCall {
  readonly name: string;
  /** The arguments from the model. */
  readonly input: JsonObject;
  readonly state: CallState;
  /** Where the call ran. `undefined` if the call reached neither side. */
  readonly ranOn: "server" | "client" | undefined;
  readonly result: JsonObject | undefined;
  /** What the tool wants clients to show. */
  readonly display: JsonObject | undefined;
  readonly errorCode: string | undefined;
  readonly errorMessage: string | undefined;
}

/** A permission request for a call. */
export interface Question {
  readonly tool: string;
  readonly type: string;
  readonly pattern: readonly string[];
  readonly title: string;
  readonly state: PermissionRecord["state"];
}

export interface Turn {
  /** The participant's message. `undefined` for a turn that began by itself, such as a greeting or a late outcome. */
  readonly said: string | undefined;
  /** The complete answer. */
  readonly text: string;
  readonly calls: readonly SeenCall[];
  readonly asked: readonly Question[];
  readonly state: TurnState;
  /** Why the turn failed. */
  readonly error: string | undefined;
  /**
   * The time from the participant's message, or from the end of the spoken message, to the turn's end, in milliseconds.
   */
  readonly ms: number;
  /** In a voice session, how much of the agent's sound the participant received, without pauses, in milliseconds. */
  readonly soundMs: number | undefined;
  /** In a voice session, whether the answer was cut off while it was spoken. */
  readonly isCutOff: boolean;
}

const NO_OUTCOME = { result: undefined, display: undefined, errorCode: undefined, errorMessage: undefined };

/** A turn that is updated while it runs. */
export class LoggedTurn implements Turn {
  readonly id: string;
  readonly messageId: string;
  readonly parentMessageId: string | null;
  readonly said: string | undefined;
  state: TurnState = "running";
  error: string | undefined;
  readonly #startedAt: number;
  #endedAt: number | undefined;
  /** The answer that has reached the participant. */
  answer: string | undefined;
  soundMs: number | undefined;
  isCutOff = false;
  readonly #blocks: string[] = [];
  /** The calls, by tool use id. */
  readonly #calls = new Map<string, SeenCall>();
  /** The tool use ids in the model's order. Calls may open in a different order. */
  readonly #uses: string[] = [];
  readonly #questions = new Map<string, Question>();

  constructor({ id, messageId, parentMessageId, input }: TurnRecord, startedAt: number) {
    this.id = id;
    this.messageId = messageId;
    this.parentMessageId = parentMessageId;
    this.said = parentMessageId === null ? undefined : inputText(input);
    this.#startedAt = startedAt;
  }

  get hasEnded(): boolean {
    return this.#endedAt !== undefined;
  }

  /** The answer that reached the participant or, if none did, what the model wrote. */
  get text(): string {
    return this.answer ?? this.#blocks.join("");
  }

  get calls(): readonly SeenCall[] {
    const place = (id: string) => this.#uses.indexOf(id) + 1 || Number.POSITIVE_INFINITY;
    return [...this.#calls].toSorted(([a], [b]) => place(a) - place(b) || 0).map(([, call]) => call);
  }

  get asked(): readonly Question[] {
    return [...this.#questions.values()];
  }

  get ms(): number {
    return Math.round((this.#endedAt ?? performance.now()) - this.#startedAt);
  }

  take(told: Extract<SessionEvent, { readonly type: "turn" }>): void {
    const { event } = told;
    if (endsTurn(told)) this.#endedAt = performance.now();
    if (event.type === "block_start" && event.tool) this.#uses.push(event.tool.toolUseId);
    if (event.type === "block_stop" && event.block.blockType === "text")
      this.#blocks.push(event.block.textContent ?? "");
    if (event.type === "turn_spoken") this.isCutOff = event.heard !== undefined;
    if (event.type !== "turn_complete") return;
    this.state = event.state;
    this.error = event.error && `${event.error.code}: ${event.error.message}`;
  }

  takeCall({ toolUseId, toolName: name, input, state, executionResolved: ranOn, outcome }: Call): void {
    const { result, display, errorCode, errorMessage } = { ...NO_OUTCOME, ...outcome };
    this.#calls.set(toolUseId, { name, input, state, ranOn, result, display, errorCode, errorMessage });
  }

  takeQuestion({ id, toolName: tool, type, pattern, title, state }: PermissionRecord): void {
    this.#questions.set(id, { tool, type, pattern, title, state });
  }
}

/** Follows a session's events and keeps its turns up to date. */
export class TurnLog {
  readonly turns: LoggedTurn[] = [];
  /** Tool names by permission id. */
  readonly toolsAsking = new Map<string, string>();
  readonly #sentAt = new Map<string, number>();
  #spokenAt: number | undefined;
  readonly #onChange: () => void;

  /** @param onChange called after each change */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Records that a message was sent now. Its turn's duration is measured from this time. */
  recordSent(messageId: string): void {
    this.#sentAt.set(messageId, performance.now());
  }

  /** Like `recordSent`, for a spoken message, whose id is not known yet. */
  recordSpoken(): void {
    this.#spokenAt = performance.now();
  }

  /** Records an answer that the participant received. */
  recordAnswer(messageId: string, text: string): void {
    const turn = this.turns.find((each) => each.messageId === messageId);
    if (turn) turn.answer = text;
    this.#onChange();
  }

  readonly watch: SessionWatcher = (event) => {
    this.#take(event);
    this.#onChange();
  };

  #take(event: SessionEvent): void {
    switch (event.type) {
      case "turn":
        return this.#turnOf(event.turn).take(event);
      case "tool_state":
        return this.turns.find(({ id }) => id === event.call.turnId)?.takeCall(event.call);
      case "permission_asked":
      case "permission_replied": {
        const { permission } = event;
        this.toolsAsking.set(permission.id, permission.toolName);
        return this.turns.find(({ id }) => id === permission.turnId)?.takeQuestion(permission);
      }
      case "permission_extended":
      case "tool_state_stored":
    }
  }

  #turnOf(turn: TurnRecord): LoggedTurn {
    const known = this.turns.find(({ id }) => id === turn.id);
    if (known) return known;
    const { parentMessageId } = turn;
    const askedAt = parentMessageId === null ? undefined : (this.#sentAt.get(parentMessageId) ?? this.#spokenAt);
    const logged = new LoggedTurn(turn, askedAt ?? performance.now());
    this.turns.push(logged);
    return logged;
  }
}
