import type { connect, ParleyOptions } from "@parley/client";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { TalkClient } from "./store/talk-client.ts";
import { useWatched } from "./use-watched.ts";

interface HttpAccess {
  /** Address of the worker's HTTP server; `""` is the page's own. */
  readonly url: string;
  /** The participant's LiveKit token. */
  readonly token: string;
}

interface ParleyProviderProps extends ParleyOptions {
  /** A `Room` of livekit-client, connected or not, or a transport. A new object continues the same talk. */
  readonly room: Parameters<typeof connect>[0];
  /** For `useUsage`, and to extend questions. */
  readonly http?: HttpAccess;
  readonly children: ReactNode;
}

interface ParleyContextValue {
  readonly client: TalkClient;
  readonly http: HttpAccess | undefined;
}

const ParleyContext = createContext<ParleyContextValue | undefined>(undefined);

/** Gives the hooks below it one client of the worker in `room`. It never joins or leaves the room. */
export function ParleyProvider({ room, http, children, ...options }: ParleyProviderProps): ReactNode {
  const [client] = useState(() => new TalkClient());
  // A client says once what it is, so options that change later are ignored.
  const [first] = useState(options);
  useEffect(() => client.open(room, first), [client, room, first]);
  return <ParleyContext value={{ client, http }}>{children}</ParleyContext>;
}

/** @internal */
export function useParleyContext(): ParleyContextValue {
  const value = useContext(ParleyContext);
  if (!value) throw new Error("This hook needs a ParleyProvider above it");
  return value;
}

/** @internal */
export const useTalkClient = (): TalkClient => useParleyContext().client;

/** The SDK's client, for everything that has no hook; `undefined` until there is one. */
export function useParley() {
  const client = useTalkClient();
  return useWatched(client.subscribe, () => client.parley);
}
