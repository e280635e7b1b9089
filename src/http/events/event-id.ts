import { type RecordPoint } from "../../store/turns/load-turns-after.ts";

/** Nine digits stay within PostgreSQL's `int`. */
const EVENT_ID = /^(\d{1,9})\.(\d{1,9}|end)$/;

/** The id of an SSE event: `<turn's position>.<block's sequence>`, or `<turn's position>.end`. */
export function toEventId({ position, sequence }: RecordPoint): string {
  return `${position}.${sequence}`;
}

/** `undefined` for what cannot be an id of ours. */
export function parseEventId(text: string): RecordPoint | undefined {
  const [, position, sequence] = EVENT_ID.exec(text) ?? [];
  if (position === undefined || sequence === undefined) return undefined;
  return { position: Number(position), sequence: sequence === "end" ? sequence : Number(sequence) };
}
