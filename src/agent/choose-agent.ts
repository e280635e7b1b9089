import { isRecord, type JsonObject } from "../lib/json.ts";
import type { SeenRoom } from "./agent-session.ts";

/** Where a room's agent may be named: `{"agent": "billing"}`, or an attribute `agent`. */
type Source = "dispatch metadata" | "room metadata" | "participant attributes";

interface Choosing {
  /** The names of all agents. */
  readonly names: ReadonlySet<string>;
  /** The metadata of the dispatch. */
  readonly dispatch: string;
  readonly room: SeenRoom;
  /** Called when a source names an agent that cannot be used. */
  readonly onBad: (source: Source, why: string) => void;
}

/**
 * The name of the agent that is to serve a room. The dispatch's metadata come first, then the room's, then the
 * participants' attributes. `undefined` when none of them names an agent that exists: the default one serves the room.
 */
export function chooseAgent({ names, dispatch, room, onBad }: Choosing): string | undefined {
  const named = (source: Source, metadata: JsonObject): string | undefined => {
    const { agent } = metadata;
    if (agent === undefined) return undefined;
    if (typeof agent === "string" && names.has(agent)) return agent;
    onBad(source, typeof agent === "string" ? "there is no agent of this name" : "agent: expected a text");
    return undefined;
  };
  const parsed = (source: Source, text: string) => {
    // Only a dispatch is meant for agents: a room's metadata may be anything.
    const isBad = source === "dispatch metadata" && text.trim() !== "" && toObject(text) === undefined;
    if (isBad) onBad(source, "expected a JSON object");
    return toObject(text) ?? {};
  };
  const inMetadata =
    named("dispatch metadata", parsed("dispatch metadata", dispatch)) ??
    named("room metadata", parsed("room metadata", room.metadata));
  if (inMetadata !== undefined) return inMetadata;
  for (const { attributes } of room.participants) {
    const inAttributes = named("participant attributes", attributes);
    if (inAttributes !== undefined) return inAttributes;
  }
  return undefined;
}

/** Metadata as an object; `undefined` when it is none. */
export function toObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
