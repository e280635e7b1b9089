import { useParley } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

export interface LoggedEvent {
  readonly key: number;
  /** Unix ms by this device's clock. */
  readonly at: number;
  readonly type: string;
  readonly json: string;
  /**
   * Whether this is the second or a later delta of its block. Such deltas are dropped first, because long answers
   * consist of thousands of deltas.
   */
  readonly isFurtherDelta: boolean;
}

const MAX_EVENTS = 2_000;
/** How long messages are collected before they are rendered together. */
const FLUSH_MS = 100;

const EventLogContext = createContext<readonly LoggedEvent[]>([]);

/** Stores the worker's most recent messages, even while the panel is hidden. */
export function EventLog({ children }: { readonly children: ReactNode }): ReactNode {
  const parley = useParley();
  const [events, setEvents] = useState<readonly LoggedEvent[]>([]);
  useEffect(() => {
    let waiting: LoggedEvent[] = [];
    let count = 0;
    let block = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      const flushed = waiting;
      [waiting, timer] = [[], undefined];
      setEvents((known) => newest([...known, ...flushed]));
    };
    const off = parley?.on("message", ({ type, body }) => {
      const ofBlock = type === "block_event" && body.event === "block_delta" ? `${body.turnId} ${body.sequence}` : "";
      const isFurtherDelta = ofBlock !== "" && ofBlock === block;
      if (ofBlock !== "") block = ofBlock;
      waiting.push({ key: ++count, at: Date.now(), type, json: JSON.stringify(body), isFurtherDelta });
      timer ??= setTimeout(flush, FLUSH_MS);
    });
    return () => {
      off?.();
      clearTimeout(timer);
    };
  }, [parley]);
  return <EventLogContext value={events}>{children}</EventLogContext>;
}

function newest(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  let over = events.length - MAX_EVENTS;
  if (over <= 0) return events;
  return events.filter(({ isFurtherDelta }) => !isFurtherDelta || over-- <= 0).slice(-MAX_EVENTS);
}

export function useEventLog(): readonly LoggedEvent[] {
  return useContext(EventLogContext);
}
