import { Parley } from "../client/parley.ts";
import { fieldsOf, refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import type { JsonObject } from "../lib/json.ts";
import { Device } from "./device/device.ts";
import type { Behaviors } from "./device/behavior.ts";
import { faultyTransport } from "./device/faulty-transport.ts";
import type { OpenModel } from "./model/test-model.ts";
import { showTurn } from "./show-turn.ts";
import type { AgentParts, Stage, StageVoice } from "./stage/stage.ts";
import type { LoggedTurn, Turn, TurnLog } from "./turn.ts";

export interface SessionPorts {
  readonly agent: AgentParts;
  readonly model: OpenModel;
  readonly stage: Stage;
  readonly log: TurnLog;
  /** Emits `change` after each change of `log`. */
  readonly changes: EventTarget;
}

export interface SayOptions {
  /** How long the turn may take. @defaultValue 30000 */
  readonly withinMs?: number;
}

/** How the participant answers a permission request. `none`: not at all. `say`: in words, such as "yes". */
export type PermissionAnswer = "approve" | "always" | "reject" | "none" | { readonly say: string };

export interface PermissionOptions {
  /** The tool whose requests receive this answer. @defaultValue all tools */
  readonly tool?: string;
  /** A message to the model, with a rejection. */
  readonly message?: string;
  /** Replacement arguments for the call, if its tool allows edits. */
  readonly editedInput?: JsonObject;
}

const SAY_FIELDS = fieldsOf<SayOptions>({ withinMs: true });
const PERMISSION_FIELDS = fieldsOf<PermissionOptions>({ tool: true, message: true, editedInput: true });
const PERMISSION_ANSWERS: readonly string[] = ["approve", "always", "reject", "none"];
const SAY_WITHIN_MS = 30_000;
const CONNECT_WITHIN_MS = 15_000;
/**
 * How long to wait for an answer after its turn was stored. The worker sends an answer before it stores the turn, so an
 * answer that takes longer will not arrive.
 */
const ANSWER_WITHIN_MS = 2_000;

/** A participant's session with an agent, started by `startTalk`. */
export class Talk implements AsyncDisposable {
  readonly #ports: SessionPorts;
  readonly #parley: Parley;
  readonly #device: Device;
  readonly #closed = new AbortController();
  readonly #answers = new Map<string | undefined, { answer: PermissionAnswer } & PermissionOptions>();
  readonly #returned = new Set<LoggedTurn>();
  #failure: Error | undefined;
  /** How much sound the agent had made by the end of the last turn, in milliseconds. */
  #soundMs = 0;
  #close = async () => {};

  private constructor(ports: SessionPorts, language: string | undefined) {
    this.#ports = ports;
    const { stage, agent, log } = ports;
    const wrap = (transport: Stage["transport"]) =>
      faultyTransport(transport, this.#device.fateOf, this.#closed.signal);
    this.#device = new Device({
      parley: () => this.#parley,
      ownTools: agent.tools,
      deadlines: agent.deadlines,
      leave: () => stage.leave(),
      comeBack: async () => this.#parley.rejoin(wrap(await stage.comeBack())),
    });
    this.#parley = new Parley(wrap(stage.transport), {
      features: ["permissions"],
      ...(language !== undefined && { language }),
    });
    this.#parley.on("answer_end", ({ id, text }) => log.recordAnswer(id, text));
    this.#parley.on("permission_request", ({ id, title }) => this.#answer(id, title));
    this.#parley.on("error", ({ message, originatingId }) => {
      // A failed turn is not an error of the test: the turn itself shows that it failed.
      const isOfTurn = log.turns.some(({ parentMessageId }) => parentMessageId === originatingId);
      if (!isOfTurn && originatingId !== undefined) this.#fail(new Error(`The agent rejected a message: ${message}`));
    });
  }

  /** @internal */
  get agent(): AgentParts {
    return this.#ports.agent;
  }

  /** @internal Use `startTalk`. */
  static async start(ports: SessionPorts, language: string | undefined): Promise<Talk> {
    const talk = new Talk(ports, language);
    try {
      await talk.#parley.whenConnected(CONNECT_WITHIN_MS);
    } catch (error) {
      await talk.#parley.close();
      throw error;
    }
    return talk;
  }

  /** @internal */
  closeWith(close: () => Promise<void>): void {
    this.#close = close;
  }

  /** All turns so far, in the order in which they began. */
  get turns(): readonly Turn[] {
    return this.#ports.log.turns;
  }

  /**
   * Sends or speaks a message from the participant. Resolves when the turn has ended, in whatever state.
   *
   * @throws {Error} if the turn takes too long, if a permission is requested and the test does not answer it, or if the
   *   model receives a request for which it has no reply
   */
  async say(text: string, options: SayOptions = {}): Promise<Turn> {
    refuseUnknownFields(options, SAY_FIELDS, "say's options");
    const { withinMs = SAY_WITHIN_MS } = options;
    const { voice } = this.#ports.stage;
    const find = voice ? await this.#speak(text, voice) : this.#write(text);
    return this.#turn(find, `The turn of ${JSON.stringify(text)}`, withinMs);
  }

  /**
   * Waits for the end of the next turn that neither `say` nor `nextTurn` has returned: a turn that began by itself,
   * such as a greeting or the report of a background call.
   */
  async nextTurn(options: SayOptions = {}): Promise<Turn> {
    refuseUnknownFields(options, SAY_FIELDS, "nextTurn's options");
    const { withinMs = SAY_WITHIN_MS } = options;
    const find = () => this.#ports.log.turns.find((turn) => !this.#returned.has(turn));
    return this.#turn(find, "Another turn", withinMs);
  }

  /** Adds tools to the participant's device. */
  device(options: { readonly tools: Readonly<Record<string, Behaviors>> }): void {
    refuseUnknownFields(options, ["tools"], "device's options");
    this.#device.announce(options.tools);
  }

  /** Sets how the participant answers permission requests from now on. */
  permission(answer: PermissionAnswer, options: PermissionOptions = {}): void {
    refuseUnknownFields(options, PERMISSION_FIELDS, "permission's options");
    const isKnown = typeof answer === "object" ? "say" in answer : PERMISSION_ANSWERS.includes(answer);
    if (!isKnown) throw new TypeError(`expected one of ${PERMISSION_ANSWERS.join(", ")}, or {say}`);
    this.#answers.set(options.tool, { answer, ...options });
  }

  /** Makes the participant stop the current answer. */
  stop(): void {
    this.#parley.stop();
  }

  /** The number of replies in the script or cassette that the agent has not requested. */
  get repliesLeft(): number {
    return this.#ports.model.left();
  }

  /** Ends the session. May be called more than once. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#parley.close();
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #write(text: string): () => LoggedTurn | undefined {
    const { log } = this.#ports;
    const { messageId, acknowledged } = this.#parley.sendText(text);
    log.recordSent(messageId);
    acknowledged.catch((error: Error) => this.#fail(error));
    return () => log.turns.find(({ parentMessageId }) => parentMessageId === messageId);
  }

  async #speak(text: string, voice: StageVoice): Promise<() => LoggedTurn | undefined> {
    const { log } = this.#ports;
    const before = log.turns.length;
    await voice.say(text);
    log.recordSpoken();
    return () => log.turns.slice(before).find(({ parentMessageId }) => parentMessageId !== null);
  }

  async #turn(find: () => LoggedTurn | undefined, what: string, withinMs: number): Promise<Turn> {
    const hasEnded = () => find()?.hasEnded === true;
    if (!(await this.#until(hasEnded, withinMs))) {
      const turn = find();
      const soFar = turn ? `:\n${showTurn(turn)}` : ": it has not begun";
      throw new Error(`${what} did not end within ${withinMs} ms${soFar}`);
    }
    const turn = find();
    if (!turn) throw new TypeError("The finished turn is missing from the log");
    this.#returned.add(turn);
    const isAnswered = () => turn.answer !== undefined || !this.#ports.stage.isPresent();
    await this.#until(isAnswered, ANSWER_WITHIN_MS);
    await this.#listen(turn);
    const [problem] = this.#ports.model.problems();
    if (problem !== undefined) throw new Error(`${problem}\n${showTurn(turn)}`);
    return turn;
  }

  /** In a voice session, waits for silence and measures the turn's sound. @throws {Error} if an answer was silent */
  async #listen(turn: LoggedTurn): Promise<void> {
    const { stage } = this.#ports;
    if (!stage.voice) return;
    await stage.voice.untilSilence();
    const { soundMs } = stage.voice;
    turn.soundMs = soundMs - this.#soundMs;
    this.#soundMs = soundMs;
    const isAnswered = turn.state === "completed" && !turn.isCutOff && turn.text !== "" && stage.isPresent();
    if (isAnswered && turn.soundMs === 0) throw new Error(`The answer was not played:\n${showTurn(turn)}`);
  }

  /** Waits until `isTrue` holds. Returns `false` on a timeout. @throws {Error} whatever has failed in the meantime */
  async #until(isTrue: () => boolean, withinMs: number): Promise<boolean> {
    const { changes } = this.#ports;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const look = () => {
      if (this.#failure) reject(this.#failure);
      else if (isTrue()) resolve(true);
    };
    const timer = setTimeout(() => resolve(false), withinMs);
    changes.addEventListener("change", look);
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      changes.removeEventListener("change", look);
    }
  }

  #answer(permissionId: string, title: string): void {
    const tool = this.#ports.log.toolsAsking.get(permissionId);
    const chosen = this.#answers.get(tool) ?? this.#answers.get(undefined);
    if (!chosen) {
      const how = `talk.permission("approve") or another answer`;
      return this.#fail(
        new Error(`${tool} asked for permission ("${title}"), but the test does not answer: use ${how}`),
      );
    }
    const { answer, message, editedInput } = chosen;
    if (answer === "none") return;
    const { voice } = this.#ports.stage;
    const sent =
      typeof answer === "object"
        ? // In a voice session, the answer waits for the end of the spoken question.
          (voice?.untilSpoken().then(() => voice.say(answer.say)) ?? this.#parley.sendText(answer.say).acknowledged)
        : answer === "reject"
          ? this.#parley.respondToPermission(permissionId, answer, { ...(message !== undefined && { message }) })
          : this.#parley.respondToPermission(permissionId, answer, { ...(editedInput && { editedInput }) });
    sent.catch((error: Error) => this.#fail(error));
  }

  #fail(error: Error): void {
    if (this.#closed.signal.aborted) return;
    this.#failure ??= error;
    this.#ports.changes.dispatchEvent(new Event("change"));
  }
}
