import type { JsonObject } from "../lib/json.ts";

/** What a function that writes instructions is told of the session. It is called again when any of this changes. */
export interface AgentSession {
  /** The agent's own name. */
  readonly agent: string;
  readonly room: string;
  /** The participants in the room, without agents, sorted by identity. */
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
  /** Its attributes in LiveKit, without LiveKit's and Parley's own (`lk.…`, `parley.…`). */
  readonly attributes: Readonly<Record<string, string>>;
  /** BCP 47: what its client has told, or `set_language` has set. */
  readonly language: string | undefined;
  /** Whether it is a caller by telephone. */
  readonly isPhone: boolean;
  readonly localTime: LocalTime;
  /** What it asked to be remembered (`memory: true`), as stored when it joined, the oldest first. */
  readonly remembered: readonly string[];
}

/** Only to the hour: instructions that change at every turn would cost the prompt cache each time. */
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
    // The attribute is a participant's own: it may name a zone that there is not.
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
