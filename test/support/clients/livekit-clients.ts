import { ParticipantKind, type RemoteParticipant, type Room, RoomEvent } from "@livekit/rtc-node";

const ON_BEHALF = "lk.publish_on_behalf";
const STATE = "lk.agent.state";
/** With these a client says that the agent can be spoken to. */
const CONNECTED = new Set(["listening", "thinking", "speaking"]);
/** A page that is slow to render. */
const RENDERS_WITHIN_MS = 100;

const CLIENTS = ["react", "react 2.9.20", "swift", "flutter", "android"] as const;
type Client = (typeof CLIENTS)[number];

/**
 * What LiveKit's own clients make of a room's agents, each by its own rules:
 *
 * - React (`useAgent` of components-react 2.9.24): the first agent without `lk.publish_on_behalf`. When it disconnects, the
 *   talk has failed for good.
 * - React 2.9.20: the same, and of the agent's attributes only those that changed last.
 * - Swift (client-sdk-swift of 2026-08, `Room+Agent.swift`, `Session.swift`): any agent without that attribute. With none,
 *   the talk has failed if the agent was connected.
 * - Flutter (client-sdk-flutter of 2026-08, `room_agent.dart`, `session.dart`): the same with the first one.
 * - Android (components-android of 2026-07, `RememberAgent.kt`): the same, but looks again only when a participant comes
 *   or goes.
 */
export class LiveKitClients {
  /** Which client has given the talk up, and why. */
  readonly ends: string[] = [];
  readonly #room: Room;
  readonly #since = new Map<Client, number>();
  readonly #longest = new Map<Client, number>();
  /** Clients to which the agent was connected once. */
  readonly #connected = new Set<Client>();
  #rendered: RemoteParticipant | undefined;
  #android: RemoteParticipant | undefined;
  /** The attributes of its agent that changed last, as React 2.9.20 keeps them. */
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

  /** @param room connected, and from now on watched as long as it is */
  static watch(room: Room): LiveKitClients {
    return new LiveKitClients(room);
  }

  /** The longest time, in ms, for which a client that has had an agent showed none, or none that can be spoken to. */
  get longestSilence(): number {
    this.#look(false);
    const now = performance.now();
    const open = [...this.#since.values()].map((since) => now - since);
    return Math.max(0, ...this.#longest.values(), ...open);
  }

  /** Whether all of them show an agent that can be spoken to. */
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
    // Observed once it is connected: what changed before counts as one change.
    this.#note("react 2.9.20", first && [(this.#lastChanged ?? first.attributes)[STATE]]);
    this.#note("swift", unmarked.length === 0 ? undefined : unmarked.map(({ attributes }) => attributes[STATE]));
    this.#note("flutter", first && [first.attributes[STATE]]);
    this.#note("android", this.#android && [this.#android.attributes[STATE]]);
  }

  /** @param states of the agents of which it may show any; undefined: it sees none */
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
