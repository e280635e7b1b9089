import { useParley } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

export interface LoggedEvent {
  readonly key: number;
  /** Unix ms, by this device's clock. */
  readonly at: number;
  readonly type: string;
  readonly json: string;
}

const MAX_EVENTS = 2_000;
/** Many small messages are one rendering. */
const FLUSH_MS = 100;

const EventLogContext = createContext<readonly LoggedEvent[]>([]);

/** Keeps the newest messages of the worker, whether or not they are looked at. */
export function EventLog({ children }: { readonly children: ReactNode }): ReactNode {
  const parley = useParley();
  const [events, setEvents] = useState<readonly LoggedEvent[]>([]);
  useEffect(() => {
    let waiting: LoggedEvent[] = [];
    let count = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      const flushed = waiting;
      [waiting, timer] = [[], undefined];
      setEvents((known) => [...known, ...flushed].slice(-MAX_EVENTS));
    };
    const off = parley?.on("message", ({ type, body }) => {
      waiting.push({ key: ++count, at: Date.now(), type, json: JSON.stringify(body) });
      timer ??= setTimeout(flush, FLUSH_MS);
    });
    return () => {
      off?.();
      clearTimeout(timer);
    };
  }, [parley]);
  return <EventLogContext value={events}>{children}</EventLogContext>;
}

export function useEventLog(): readonly LoggedEvent[] {
  return useContext(EventLogContext);
}
