import { AppError } from "../../errors/app-error.ts";
import type { RoomPeer, Transport } from "./transport.ts";

/** How long to wait for an acknowledgement before resending the Configuration. Doubles with each attempt. */
const CONFIGURE_AGAIN_MS = 3_000;
const MAX_CONFIGURE_AGAIN_MS = 30_000;

interface AgentLinkPorts {
  /** Sends our Configuration to the agents. Resolves to whether one of them acknowledged it in time. Never rejects. */
  readonly configure: (way: "packet" | "stream", timeoutMs: number) => Promise<boolean>;
  /** Called when we have entered the room, even if LiveKit reconnected without ever reporting a disconnect. */
  readonly onEnter: () => void;
  readonly onReady: (agents: readonly string[]) => void;
  readonly onLost: (reason: "room" | "agent") => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Tracks which agents serve the room, and whether one has acknowledged our latest Configuration. Sends the
 * Configuration to each new agent, after each reconnect, and whenever our tools change.
 */
export class AgentLink {
  readonly #ports: AgentLinkPorts;
  readonly #agents = new Set<string>();
  readonly #waiters = new Set<Waiter>();
  #state: "away" | "configuring" | "ready" | "closed" = "away";
  /** The number of the latest attempt to send a Configuration. A new attempt ends all earlier ones. */
  #attempt = 0;
  #isChangeQueued = false;
  #isKnown = false;

  constructor(ports: AgentLinkPorts) {
    this.#ports = ports;
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  /**
   * Whether a Configuration was acknowledged since the latest agent joined. If so, the agent recognizes our packets
   * even before LiveKit announces us.
   */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get agents(): readonly string[] {
    return [...this.#agents];
  }

  /** Call this when we have entered the room, for the first time or again. */
  enter(peers: readonly RoomPeer[]): void {
    this.#ports.onEnter();
    this.#agents.clear();
    for (const peer of peers) if (isServing(peer)) this.#agents.add(peer.identity);
    if (this.#agents.size > 0) this.#configure("stream", true);
    else this.#lose("agent");
  }

  leave(): void {
    this.#agents.clear();
    this.#lose("room");
  }

  /** Call this when a participant joined or changed. Ignores participants that are not agents. */
  see(peer: RoomPeer): void {
    if (!isServing(peer)) return this.remove(peer);
    if (this.#agents.has(peer.identity)) return;
    this.#agents.add(peer.identity);
    this.#configure("stream", true);
  }

  remove({ identity }: RoomPeer): void {
    if (this.#agents.delete(identity) && this.#agents.size === 0) this.#lose("agent");
  }

  /** Call this when our tools have changed. Several changes in one tick are announced together. */
  change(): void {
    if (this.#agents.size === 0 || this.#isChangeQueued || this.#state === "closed") return;
    this.#isChangeQueued = true;
    const isFirst = this.#state === "configuring";
    this.#state = "configuring";
    queueMicrotask(() => {
      this.#isChangeQueued = false;
      if (this.#state === "configuring") this.#configure(isFirst ? "stream" : "packet", isFirst);
    });
  }

  /** @throws {AppError} `unavailable` when no agent is ready within `timeoutMs`, or the link is closed */
  async whenReady(timeoutMs: number): Promise<void> {
    if (this.#state === "ready") return;
    if (this.#state === "closed") throw closed();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = () =>
      reject(new AppError("unavailable", `No agent answered in the room within ${timeoutMs / 1000} s`));
    const timer = setTimeout(late, timeoutMs);
    const waiter: Waiter = { resolve, reject };
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  close(): void {
    this.#attempt += 1;
    this.#state = "closed";
    this.#agents.clear();
    for (const { reject } of this.#waiters) reject(closed());
  }

  #configure(way: "packet" | "stream", isNews: boolean): void {
    if (this.#state === "closed") return;
    if (isNews) this.#isKnown = false;
    this.#state = "configuring";
    this.#attempt += 1;
    void this.#configureUntilTaken(this.#attempt, way, isNews);
  }

  async #configureUntilTaken(attempt: number, way: "packet" | "stream", isNews: boolean): Promise<void> {
    let timeoutMs = CONFIGURE_AGAIN_MS;
    while (attempt === this.#attempt) {
      const isTaken = await this.#ports.configure(way, timeoutMs);
      timeoutMs = Math.min(timeoutMs * 2, MAX_CONFIGURE_AGAIN_MS);
      if (attempt !== this.#attempt || !isTaken) continue;
      this.#state = "ready";
      this.#isKnown = true;
      if (isNews) this.#ports.onReady(this.agents);
      for (const { resolve } of this.#waiters) resolve();
      return;
    }
  }

  #lose(reason: "room" | "agent"): void {
    this.#attempt += 1;
    this.#isKnown = false;
    if (this.#state === "away" || this.#state === "closed") return;
    this.#state = "away";
    this.#ports.onLost(reason);
  }
}

function isServing({ isAgent, isGone = false }: RoomPeer): boolean {
  return isAgent && !isGone;
}

function closed(): AppError {
  return new AppError("unavailable", "The client was closed");
}

/**
 * Calls a remote method of the agent.
 *
 * @throws {AppError} `unavailable` without an agent; `invalid_state` if the agent refuses or does not have the method
 */
export async function callAgent(
  method: string,
  { callMethod }: Pick<Transport, "callMethod">,
  { agents: [agent] }: Pick<AgentLink, "agents">,
): Promise<void> {
  if (agent === undefined || !callMethod) throw new AppError("unavailable", "No agent is in the room");
  try {
    await callMethod(method, agent);
  } catch (error) {
    throw new AppError("invalid_state", error instanceof Error ? error.message : String(error), { cause: error });
  }
}
