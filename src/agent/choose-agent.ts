import { isRecord, type JsonObject } from "../lib/json.ts";
import type { RoomSnapshot } from "./agent-session.ts";

/** Where a room's agent can be set: as `{"agent": "billing"}` in metadata, or in the attribute `agent`. */
type Source = "dispatch metadata" | "room metadata" | "participant attributes";

interface Choosing {
  readonly names: ReadonlySet<string>;
  readonly dispatch: string;
  readonly room: RoomSnapshot;
  /** Called when a source cannot be read, or names an agent that does not exist. */
  readonly onBad: (source: Source, why: string) => void;
}

/**
 * Returns the name of the agent that serves a room. The dispatch's metadata is checked first, then the room's, then the
 * participants' attributes. Returns `undefined` if none of them names an existing agent: the default agent then serves
 * the room.
 */
export function chooseAgent({ names, dispatch, room, onBad }: Choosing): string | undefined {
  const named = (source: Source, metadata: JsonObject): string | undefined => {
    const { agent } = metadata;
    if (agent === undefined) return undefined;
    if (typeof agent === "string" && names.has(agent)) return agent;
    onBad(source, typeof agent === "string" ? "no agent has this name" : "agent: expected a string");
    return undefined;
  };
  const parsed = (source: Source, text: string) => {
    // Only dispatch metadata is meant for agents. A room's metadata may be anything.
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

/** Parses metadata. Returns `undefined` unless it is a JSON object. */
export function toObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
