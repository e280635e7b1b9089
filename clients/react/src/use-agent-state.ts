import { useCallback, useEffect, useState } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import { liveKitRoomOf } from "./store/talk-client.ts";
import { useWatched } from "./use-watched.ts";

/** LiveKit's agent states, plus `using_tool` and `waiting_for_permission`. */
export type AgentState =
  | "disconnected"
  | "connecting"
  | "listening"
  | "thinking"
  | "speaking"
  | "using_tool"
  | "waiting_for_permission"
  | "failed";

interface Agent {
  readonly state: AgentState;
  /** Why the state is `connecting` or `failed`: all workers are full, or no agent joined. */
  readonly reason?: "workers_full" | "no_agent";
}

/** The parts of livekit-client's `Room` that are only used here, not by the SDK. */
interface WatchedRoom {
  readonly state?: string;
  readonly localParticipant?: { readonly attributes?: Readonly<Record<string, string>> };
  readonly remoteParticipants: ReadonlyMap<
    string,
    { readonly kind: number; readonly attributes?: Readonly<Record<string, string>> }
  >;
  on(event: never, handler: never): unknown;
  off(event: never, handler: never): unknown;
}

/** `ParticipantKind.AGENT`. */
const AGENT_KIND = 4;
const ROOM_EVENTS = [
  "participantAttributesChanged",
  "participantConnected",
  "participantDisconnected",
  "connectionStateChanged",
];
const WORDS: readonly string[] = ["listening", "thinking", "speaking", "using_tool"];
const NO_AGENT_MS = 10_000;

/**
 * Returns what the agent is doing. After an agent was killed, it counts as present until a worker or LiveKit notices,
 * which takes up to 25 s.
 *
 * @param noAgentMs how long to wait for an agent before the state is `failed`
 */
export function useAgentState({ noAgentMs = NO_AGENT_MS } = {}): Agent {
  const client = useTalkClient();
  const given = useWatched(client.subscribe, () => client.room);
  const room = liveKitRoomOf(given) as WatchedRoom | undefined;
  const isKnown = useWatched(client.subscribe, () => client.isKnown);
  const mustAnswer = useWatched(client.permissions.subscribe, () => client.permissions.open.length > 0);
  const subscribe = useCallback((listener: () => void) => watchRoom(room, listener), [room]);
  const isInRoom = useWatched(subscribe, () => room === undefined || room.state === "connected");
  const word = useWatched(subscribe, () => wordOf(room));
  const isFull = useWatched(subscribe, () => room?.localParticipant?.attributes?.["parley.waiting"] === "workers_full");
  const isLate = useIsLate(given !== undefined && isInRoom && !isKnown, noAgentMs);
  if (!given || !isInRoom) return { state: "disconnected" };
  if (isFull && !isKnown) return { state: "connecting", reason: "workers_full" };
  if (!isKnown) return isLate ? { state: "failed", reason: "no_agent" } : { state: "connecting" };
  return { state: mustAnswer ? "waiting_for_permission" : word };
}

function watchRoom(room: WatchedRoom | undefined, listener: () => void): () => void {
  for (const event of ROOM_EVENTS) room?.on(event as never, listener as never);
  return () => {
    for (const event of ROOM_EVENTS) room?.off(event as never, listener as never);
  };
}

function wordOf(room: WatchedRoom | undefined): AgentState {
  const agents = [...(room?.remoteParticipants.values() ?? [])].filter(
    ({ kind, attributes }) => kind === AGENT_KIND && !attributes?.["lk.publish_on_behalf"],
  );
  const words = agents.map(({ attributes = {} }) => attributes["parley.agent.state"] ?? attributes["lk.agent.state"]);
  return (words.find((word) => word !== undefined && WORDS.includes(word)) as AgentState | undefined) ?? "listening";
}

/** Returns whether a condition has held for `afterMs`. */
function useIsLate(holds: boolean, afterMs: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!holds) return setLate(false);
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => clearTimeout(timer);
  }, [holds, afterMs]);
  return isLate;
}
