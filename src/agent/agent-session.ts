import type { State } from "../conversation/state/session-state.ts";
import type { JsonObject } from "../lib/json.ts";

/** The session, as passed to an instructions function. The function is called again when any of this changes. */
export interface AgentSession {
  readonly agent: string;
  readonly room: string;
  /** The participants in the room, except agents, sorted by identity. */
  readonly participants: readonly AgentParticipant[];
  /** The metadata of the dispatch that brought the agent into the room; `{}` if there is none. */
  readonly metadata: JsonObject;
  /** The room's metadata; `{}` if it is not a JSON object. */
  readonly roomMetadata: JsonObject;
  /** The session's state, as tools and hooks have changed it. */
  readonly state: State;
}

/** A room whose name an earlier room had. */
export interface LaterRoom {
  readonly name: string;
  /** LiveKit's id of the room. */
  readonly roomSid: string;
  /** The room's metadata; `{}` if it is not a JSON object. */
  readonly metadata: JsonObject;
}

/**
 * Decides whether a room continues the conversation of an earlier room of the same name. `participants` are those in
 * the room when the first one has joined, or nobody if that takes more than 5 s.
 */
export type ContinueConversation = (room: LaterRoom, participants: readonly AgentParticipant[]) => boolean;

export interface AgentParticipant {
  readonly identity: string;
  /** The display name in the participant's token; "" if there is none. */
  readonly name: string;
  /** The participant's attributes, except LiveKit's and Parley's own (`lk.…`, `parley.…`). */
  readonly attributes: Readonly<Record<string, string>>;
  /** A BCP 47 tag, set by the participant's client or by `set_language`. */
  readonly language: string | undefined;
  /** Whether the participant is a phone caller. */
  readonly isPhone: boolean;
  readonly localTime: LocalTime;
  /**
   * What the participant asked the agent to remember (`memory: true`) as stored when the participant joined, oldest
   * first.
   */
  readonly remembered: readonly string[];
}

/**
 * A participant's local time, precise to the hour only. Instructions that change every turn would miss the prompt cache
 * each time.
 */
export interface LocalTime {
  /** For example 2026-11-22. */
  readonly date: string;
  /** For example Sunday. */
  readonly weekday: string;
  /** 0 to 23. */
  readonly hour: number;
  /** An IANA name from the participant's attribute `timeZone`; UTC if it has none. */
  readonly timeZone: string;
}

/** A participant's current state in the room. */
export interface SeenParticipant {
  readonly identity: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isPhone: boolean;
}

/** The room's current state, with its metadata as a string. */
export interface RoomSnapshot {
  readonly name: string;
  readonly metadata: string;
  readonly participants: readonly SeenParticipant[];
}

/** Returns the attributes that are neither LiveKit's nor Parley's own. */
export function ownAttributes(attributes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !/^(?:lk|parley)\./u.test(name)));
}

export function localTimeAt(moment: Date, timeZone: string | undefined): LocalTime {
  try {
    return partsOf(moment, timeZone ?? "UTC");
  } catch {
    // Participants set this attribute themselves, so it may name an unknown time zone.
    return partsOf(moment, "UTC");
  }
}

function partsOf(moment: Date, timeZone: string): LocalTime {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    weekday: "long",
    hour: "2-digit",
    hourCycle: "h23",
  });
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
  const { year, month, day, weekday = "", hour } = parts;
  return { date: `${year}-${month}-${day}`, weekday, hour: Number(hour), timeZone };
}
