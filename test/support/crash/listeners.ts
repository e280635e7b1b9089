import { type ListenOptions, type listenEvents } from "../../../src/store/events.ts";

type Listener = Pick<ListenOptions, "databaseUrl" | "onEvent">;

const listeners = new Set<Listener>();

/** In the place of PostgreSQL's own way: heard at once, for no real time may pass in between. */
export const listenHere: typeof listenEvents = (options) => {
  listeners.add(options);
  options.onListening();
  return { close: async () => void listeners.delete(options) };
};

/** Tells those that have named this database. */
export function tellListeners(databaseUrl: string, sessionId: string, payload: string): void {
  for (const listener of listeners) if (listener.databaseUrl === databaseUrl) listener.onEvent(sessionId, payload);
}

export function forgetListeners(): void {
  listeners.clear();
}
