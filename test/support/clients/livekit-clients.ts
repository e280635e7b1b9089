import { ParticipantKind, type RemoteParticipant, type Room, RoomEvent } from "@livekit/rtc-node";

const ON_BEHALF = "lk.publish_on_behalf";
const STATE = "lk.agent.state";
/** The states in which a client shows the agent as ready to be spoken to. */
const CONNECTED = new Set(["listening", "thinking", "speaking"]);
/** How long a slow page takes to render. */
const RENDERS_WITHIN_MS = 100;

const CLIENTS = ["react", "react 2.9.20", "swift", "flutter", "android"] as const;
type Client = (typeof CLIENTS)[number];

/**
 * Simulates how LiveKit's own clients show a room's agents, each by its own rules:
 *
 * - React (`useAgent` of components-react 2.9.24): shows the first agent without `lk.publish_on_behalf`. When that
 *   agent disconnects, the session has failed for good.
 * - React 2.9.20: the same, but it keeps only those of the agent's attributes that changed last.
 * - Swift (client-sdk-swift of 2026-08, `Room+Agent.swift`, `Session.swift`): shows any agent without
 *   `lk.publish_on_behalf`. When no such agent is left, a session that was connected has failed.
 * - Flutter (client-sdk-flutter of 2026-08, `room_agent.dart`, `session.dart`): like Swift, but shows only the first
 *   such agent.
 * - Android (components-android of 2026-07, `RememberAgent.kt`): like Flutter, but it chooses the agent only when a
 *   participant joins or leaves.
 */
export class LiveKitClients {
  /** The clients that have given up the session, with the reason. */
  readonly ends: string[] = [];
  readonly #room: Room;
  readonly #since = new Map<Client, number>();
  readonly #longest = new Map<Client, number>();
  /** Clients that have been connected to the agent. */
  readonly #connected = new Set<Client>();
  #rendered: RemoteParticipant | undefined;
  #android: RemoteParticipant | undefined;
  /** The agent's attributes that changed last, as React 2.9.20 keeps them. */
  #lastChanged: Readonly<Record<string, string>> | undefined;

  private constructor(room: Room) {
    this.#room = room;
    room.on(RoomEvent.ParticipantConnected, () => this.#look(true));
    room.on(RoomEvent.ParticipantDisconnected, ({ identity }) => {
      if (this.#rendered?.identity === identity) {
        this.ends.push(
          `react: ${identity} left the room unexpectedly`,
          `react 2.9.20: ${identity} left the room unexpectedly`,
        );
      }
      this.#look(true);
    });
    room.on(RoomEvent.ParticipantAttributesChanged, (attributes, { identity }) => {
      if (identity === this.#rendered?.identity) this.#lastChanged = attributes;
      this.#look(false);
    });
    this.#look(true);
  }

  /** @param room must be connected. Watched until the room closes */
  static watch(room: Room): LiveKitClients {
    return new LiveKitClients(room);
  }

  /**
   * The longest period, in ms, during which one of the clients showed no agent that can be spoken to, although it had
   * shown one before.
   */
  get longestSilence(): number {
    this.#look(false);
    const now = performance.now();
    const open = [...this.#since.values()].map((since) => now - since);
    return Math.max(0, ...this.#longest.values(), ...open);
  }

  /** Whether all clients show an agent that can be spoken to. */
  get areConnected(): boolean {
    this.#look(false);
    return this.ends.length === 0 && this.#connected.size === CLIENTS.length && this.#since.size === 0;
  }

  get #unmarked(): RemoteParticipant[] {
    const agents = [...this.#room.remoteParticipants.values()].filter(({ kind }) => kind === ParticipantKind.AGENT);
    return agents.filter(({ attributes }) => !(ON_BEHALF in attributes));
  }

  #look(isNewList: boolean): void {
    const unmarked = this.#unmarked;
    const [first] = unmarked;
    if (isNewList) this.#android = first;
    if (first !== this.#rendered) setTimeout(() => (this.#rendered = this.#unmarked[0]), RENDERS_WITHIN_MS).unref();
    this.#note("react", first && [first.attributes[STATE]]);
    // React 2.9.20 notices changes only once it observes the agent. Until the first such change, it has all attributes.
    this.#note("react 2.9.20", first && [(this.#lastChanged ?? first.attributes)[STATE]]);
    this.#note("swift", unmarked.length === 0 ? undefined : unmarked.map(({ attributes }) => attributes[STATE]));
    this.#note("flutter", first && [first.attributes[STATE]]);
    this.#note("android", this.#android && [this.#android.attributes[STATE]]);
  }

  /** @param states of the agents that the client may show; undefined if it sees none */
  #note(client: Client, states: readonly (string | undefined)[] | undefined): void {
    const now = performance.now();
    const wasConnected = this.#connected.has(client) && !this.#since.has(client);
    if (!states && wasConnected && !client.startsWith("react")) this.ends.push(`${client}: no agent is left`);
    if (states?.some((state) => CONNECTED.has(state ?? ""))) {
      const since = this.#since.get(client);
      if (since !== undefined) this.#longest.set(client, Math.max(this.#longest.get(client) ?? 0, now - since));
      this.#since.delete(client);
      this.#connected.add(client);
    } else if (this.#connected.has(client) && !this.#since.has(client)) this.#since.set(client, now);
  }
}
