import type { Logger } from "pino";
import type { Instructions } from "../../agent/agent-fields.ts";
import { localTimeAt, ownAttributes, type AgentSession, type RoomSnapshot } from "../../agent/agent-session.ts";
import { chooseAgent, toObject } from "../../agent/choose-agent.ts";
import { byteLength } from "../../conversation/shown-context.ts";
import type { State } from "../../conversation/state/session-state.ts";
import { abortable } from "../../lib/abortable.ts";
import type { SessionAgent } from "../../store/sessions/sessions.ts";
import type { MemorySnapshots } from "../memory/memory-snapshots.ts";
import type { CountTokens, OpenStream } from "../model/open-stream.ts";
import type { ServedAgent } from "./served-agent.ts";

interface SessionAgentsOptions {
  /** All agents of this worker, by name. The map changes when agents are loaded or removed. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** The default agent, for rooms that do not request an agent. */
  readonly defaultAgent: ServedAgent;
  /** The metadata of the dispatch that created the job. */
  readonly dispatch: string;
  /**
   * Lists the room's dispatches, newest first, including this job's own. For a new room, LiveKit creates a job without
   * metadata in addition to the dispatched one. If the session runs in the job without metadata, the list contains the
   * other job's metadata.
   *
   * @defaultValue only this job's own dispatch
   */
  readonly listDispatches?: (() => Promise<readonly SeenDispatch[]>) | undefined;
  /** The agent name that the room was dispatched to. If an agent has this name, that agent is the room's default. */
  readonly dispatchedTo?: string | undefined;
  readonly readRoom: () => RoomSnapshot;
  /** @defaultValue no memories */
  readonly memories?: Pick<MemorySnapshots, "of" | "read"> | undefined;
  readonly logger: Logger;
  /** Returns milliseconds since the epoch. @defaultValue the system clock */
  readonly now?: () => number;
}

export interface SeenDispatch {
  readonly id: string;
  readonly metadata: string;
}

/** How long the first turn waits for the list of dispatches. */
const LISTED_WITHIN_MS = 1_000;
/** How long a turn waits for an instructions function. Instructions that arrive later apply from the next turn on. */
const WRITTEN_WITHIN_MS = 2_000;

/** The agent that serves a session, with its current instructions. */
export class SessionAgents {
  readonly #options: SessionAgentsOptions;
  readonly #first = Promise.withResolvers<SessionAgent>();
  readonly #connected = Promise.withResolvers<void>();
  #isConnected = false;
  #isDecided = false;
  /** Whether a turn has begun. After that, dispatches no longer change the agent. */
  #hasBegun = false;
  #dispatch: string;
  #reading: Promise<void> | undefined;
  /** Ids of dispatches that arrived too late to choose the agent. Each is logged once. */
  readonly #lateDispatches = new Set<string>();
  /** Sources, such as the room's metadata, whose requested agent could not be used. Each is logged once. */
  readonly #refused = new Set<string>();
  #current: ServedAgent;
  /** The latest instructions returned by instructions functions, by agent. */
  readonly #written = new Map<string, string>();
  /**
   * Instructions that arrived after their turn had stopped waiting, by agent. They apply from the next turn on, because
   * instructions do not change during a turn.
   */
  readonly #late = new Map<string, string>();
  /** The `AgentSession`, as JSON, that the current instructions were written for. */
  #writtenFor: string | undefined;
  /** The `AgentSession`, as JSON, that instructions are being written for. */
  #writingFor: string | undefined;
  /** Returns a participant's language. Set by the session when it opens. */
  languageOf: (identity: string) => string | undefined = () => undefined;
  #state: { readonly value: State } = { value: {} };
  readonly #listeners = new Set<() => void>();

  constructor(options: SessionAgentsOptions) {
    this.#options = options;
    this.#current = options.defaultAgent;
    this.#dispatch = options.dispatch;
  }

  /** Resolves to the first turn's agent when that turn begins. */
  get first(): Promise<SessionAgent> {
    return this.#first.promise;
  }

  has(name: string): boolean {
    return this.#options.agents.has(name);
  }

  get current(): ServedAgent {
    return this.#current;
  }

  /** The current agent, or `undefined` if it is the default one. */
  get named(): ServedAgent | undefined {
    return this.#current === this.#options.defaultAgent ? undefined : this.#current;
  }

  /** The current session, in the form that an author's functions receive. */
  get session(): AgentSession {
    return this.#describe();
  }

  /** The system prompt. */
  get instructions(): string {
    const { name, instructions } = this.#current;
    return typeof instructions === "string" ? instructions : (this.#written.get(name) ?? "");
  }

  /** Returns the display name from a participant's token. */
  nameOf(identity: string): string | undefined {
    return this.#options.readRoom().participants.find((each) => each.identity === identity)?.name;
  }

  /** Returns what a participant's calls receive. A participant who is not in the room has no attributes. */
  describeFor(identity: string) {
    const { attributes = {} } = this.#options.readRoom().participants.find((each) => each.identity === identity) ?? {};
    return { agent: this.#current.name, attributes: ownAttributes(attributes) };
  }

  /** Call this when the session is open. The instructions are written for its current state from then on. */
  readStateFrom(state: { readonly value: State }): void {
    this.#state = state;
  }

  /** The size in bytes of the instructions and Anthropic's own tools, which every request contains. */
  get instructionBytes(): number {
    return byteLength(this.instructions) + this.#current.serverToolBytes;
  }

  /** Call this when the agent has joined the room and the room's participants and metadata are known. */
  handleConnected(): void {
    this.#isConnected = true;
    this.decide();
    this.#connected.resolve();
  }

  /**
   * Reads the room's dispatches, unless this job's own dispatch names an agent. Before the first turn, a dispatch that
   * names an agent decides which agent serves the session. Call this after connecting, and when another agent joins.
   * Never rejects.
   */
  async readDispatches(): Promise<void> {
    const { listDispatches, logger } = this.#options;
    if (!listDispatches || namesAgent(this.#options.dispatch)) return;
    const reading = abortable(listDispatches(), AbortSignal.timeout(LISTED_WITHIN_MS)).then(
      (dispatches) => this.#consider(dispatches),
      (error: unknown) => logger.warn({ error }, "listing dispatches failed"),
    );
    this.#reading = reading;
    await reading;
    if (this.#reading === reading) this.#reading = undefined;
  }

  #consider(dispatches: readonly SeenDispatch[]): void {
    const named = dispatches.find(({ metadata }) => namesAgent(metadata));
    if (named === undefined || named.metadata === this.#dispatch) return;
    if (!this.#hasBegun) {
      this.#dispatch = named.metadata;
      this.#isDecided = false;
      this.#invalidateInstructions();
      this.decide();
    } else if (!this.#lateDispatches.has(named.id)) {
      this.#lateDispatches.add(named.id);
      const { agent } = toObject(named.metadata) ?? {};
      const serving = this.#current.name;
      this.#options.logger.warn(
        { dispatchId: named.id, agent, serving },
        "dispatch metadata ignored, a turn has already started",
      );
    }
  }

  /**
   * Chooses the agent that serves the session. The choice is final once a source has requested an agent, or once the
   * first participants have joined, because their attributes may request an agent.
   */
  decide(): void {
    const { agents, defaultAgent, dispatchedTo = "", readRoom, logger } = this.#options;
    const dispatch = this.#dispatch;
    if (this.#isDecided || !this.#isConnected) return;
    const room = readRoom();
    const onBad = (source: string, why: string) => {
      if (this.#refused.has(source)) return;
      this.#refused.add(source);
      logger.warn({ source, why, agents: [...agents.keys()] }, "requested agent ignored");
    };
    const name = chooseAgent({ names: new Set(agents.keys()), dispatch, room, onBad });
    this.#isDecided = name !== undefined || room.participants.length > 0;
    this.#current = agents.get(name ?? dispatchedTo) ?? defaultAgent;
    if (this.#isDecided) logger.info({ agent: this.#current.name }, "agent chosen");
  }

  /** Hands the session off to another agent. The new agent makes the next model call, even within the running turn. */
  async handOff(name: string): Promise<void> {
    this.#serve(name);
    await this.prepare();
    this.#notifyChange();
    this.#options.logger.info({ agent: name }, "handed off to another agent");
  }

  /** Continues with the agent that served the session on an earlier worker, if that agent still exists. */
  restore({ agent, dispatch }: SessionAgent): void {
    if (dispatch !== null) this.#dispatch = dispatch;
    if (this.has(agent)) this.#serve(agent);
    else this.#options.logger.warn({ agent }, "stored agent is no longer defined, ignored");
  }

  /**
   * Calls the listener after a handoff, and when the agent's definition changes. The returned function removes the
   * listener.
   */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Picks up the agent's latest definition. If the instructions are a function and the session passed to it has
   * changed, calls the function again. Call this before each turn. Returns `undefined` if there is nothing to wait for.
   * Never rejects.
   */
  prepare(): Promise<void> | undefined {
    if (!this.#isConnected) return this.#connected.promise.then(() => this.prepare());
    if (this.#reading && !this.#hasBegun) return this.#reading.then(() => this.prepare());
    this.decide();
    this.#hasBegun = true;
    if (this.#isDecided) this.#first.resolve({ agent: this.#current.name, dispatch: this.#dispatch });
    this.#renew();
    for (const [name, text] of this.#late) this.#written.set(name, text);
    this.#late.clear();
    if (typeof this.#current.instructions === "string") return undefined;
    const { readRoom, memories } = this.#options;
    const reading = memories?.read(readRoom().participants.map(({ identity }) => identity));
    return reading ? reading.then(() => this.#write()) : this.#write();
  }

  #write(): Promise<void> | undefined {
    const { name, instructions } = this.#current;
    if (typeof instructions === "string") return undefined;
    const { session } = this;
    const sessionJson = JSON.stringify(session);
    // The instructions are already written or being written. An earlier turn has already waited for them.
    if (sessionJson === this.#writtenFor || sessionJson === this.#writingFor) return undefined;
    this.#writingFor = sessionJson;
    let isLate = false;
    const keep = (text: string) => {
      if (sessionJson !== this.#writingFor) return;
      (isLate ? this.#late : this.#written).set(name, text);
      this.#writtenFor = sessionJson;
    };
    const complain = (error: unknown) =>
      this.#options.logger.error({ error, agent: name }, "writing agent instructions failed");
    const fail = (error: unknown) => {
      if (sessionJson === this.#writingFor) this.#writingFor = undefined;
      complain(error);
    };
    try {
      const text = write(instructions, session);
      if (text instanceof Promise)
        return abortable(text.then(keep, fail), AbortSignal.timeout(WRITTEN_WITHIN_MS)).catch((error: unknown) => {
          isLate = true;
          complain(error);
        });
      keep(text);
    } catch (error) {
      fail(error);
    }
    return undefined;
  }

  /** Calls the current agent's model. */
  readonly openStream: OpenStream = (request, signal) => this.#current.openStream(request, signal);

  readonly countTokens: CountTokens = async (request, signal) => this.#current.countTokens?.(request, signal);

  /**
   * Picks up the latest definition of the current agent. If the agent's file was removed, the old definition stays in
   * use.
   */
  #renew(): void {
    const now = this.#options.agents.get(this.#current.name);
    if (now === undefined || now === this.#current) return;
    this.#current = now;
    this.#invalidateInstructions();
    this.#notifyChange();
  }

  #notifyChange(): void {
    for (const listener of this.#listeners) listener();
  }

  #serve(name: string): void {
    const { agents, defaultAgent } = this.#options;
    this.#current = agents.get(name) ?? defaultAgent;
    this.#isDecided = true;
    this.#hasBegun = true;
    this.#invalidateInstructions();
  }

  /** Makes the next turn call the instructions function again, even if the session has not changed. */
  #invalidateInstructions(): void {
    this.#writtenFor = undefined;
    this.#writingFor = undefined;
  }

  #describe(): AgentSession {
    const { readRoom, memories, now = Date.now } = this.#options;
    const { name: room, metadata, participants } = readRoom();
    const moment = new Date(now());
    const byIdentity = participants.toSorted((a, b) => (a.identity < b.identity ? -1 : 1));
    return {
      agent: this.#current.name,
      room,
      participants: byIdentity.map(({ attributes, ...participant }) => ({
        ...participant,
        attributes: ownAttributes(attributes),
        language: this.languageOf(participant.identity),
        localTime: localTimeAt(moment, attributes["timeZone"]),
        remembered: memories?.of(participant.identity)?.map(({ text }) => text) ?? [],
      })),
      metadata: toObject(this.#dispatch) ?? {},
      roomMetadata: toObject(metadata) ?? {},
      state: this.#state.value,
    };
  }
}

function namesAgent(metadata: string): boolean {
  return toObject(metadata)?.["agent"] !== undefined;
}

/** @throws whatever the function throws; {TypeError} when it does not return a non-empty string */
function write(instructions: Exclude<Instructions, string>, session: AgentSession): string | Promise<string> {
  const checked = (text: unknown) => {
    if (typeof text === "string" && text.trim() !== "") return text;
    throw new TypeError("instructions: expected the function to return a non-empty string");
  };
  const text: unknown = instructions(session);
  return text instanceof Promise ? text.then(checked) : checked(text);
}
