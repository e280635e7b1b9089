import type { JsonObject } from "../lib/json.ts";

/** What a function that writes an agent's instructions is told of its session. When it changes, the function is asked again. */
export interface AgentSession {
  /** The agent's own name. */
  readonly agent: string;
  readonly room: string;
  /** Those that are in the room, in the order of their identities. Other agents are none. */
  readonly participants: readonly AgentParticipant[];
  /** The metadata of the dispatch that brought the agent into the room; `{}` without any. */
  readonly metadata: JsonObject;
  /** The room's metadata; `{}` when it is no JSON object. */
  readonly roomMetadata: JsonObject;
}

export interface AgentParticipant {
  readonly identity: string;
  /** The display name of its token; "" without one. */
  readonly name: string;
  /** LiveKit's and Parley's own (`lk.…`, `parley.…`) are left out. */
  readonly attributes: Readonly<Record<string, string>>;
  /** BCP 47, as its client has told or `set_language` has set. */
  readonly language: string | undefined;
  /** A caller by telephone. */
  readonly isPhone: boolean;
  readonly localTime: LocalTime;
  /** What it has asked to be remembered in earlier talks (`memory: true`), the oldest first, as it was when it came. */
  readonly remembered: readonly string[];
}

/** Not to the minute: instructions that change with every turn would cost the prompt cache each time. */
export interface LocalTime {
  /** As 2026-11-22. */
  readonly date: string;
  /** As Sunday. */
  readonly weekday: string;
  /** 0 to 23. */
  readonly hour: number;
  /** The participant's attribute `timeZone`, an IANA name; UTC without it. */
  readonly timeZone: string;
}

/** A participant as the room knows it. */
export interface SeenParticipant {
  readonly identity: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isPhone: boolean;
}

/** The room as it is now, with metadata as text. */
export interface SeenRoom {
  readonly name: string;
  readonly metadata: string;
  readonly participants: readonly SeenParticipant[];
}

export function localTimeAt(moment: Date, timeZone: string | undefined): LocalTime {
  try {
    return partsOf(moment, timeZone ?? "UTC");
  } catch {
    // A token may name any zone.
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
