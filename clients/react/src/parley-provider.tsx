import type { connect, ParleyOptions } from "@parley/client";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { TalkClient } from "./store/talk-client.ts";
import { useWatched } from "./use-watched.ts";

interface HttpAccess {
  /** URL of the worker's HTTP server. `""` is the page's own origin. */
  readonly url: string;
  /** The participant's LiveKit token. */
  readonly token: string;
}

interface ParleyProviderProps extends ParleyOptions {
  /**
   * A livekit-client `Room`, connected or not, or a transport. A new object for the same room continues the
   * conversation.
   */
  readonly room: Parameters<typeof connect>[0];
  /** Needed by `useUsage`, and to extend permission requests. */
  readonly http?: HttpAccess;
  readonly children: ReactNode;
}

interface ParleyContextValue {
  readonly client: TalkClient;
  readonly http: HttpAccess | undefined;
}

const ParleyContext = createContext<ParleyContextValue | undefined>(undefined);

/** Gives all hooks inside it the same client for the worker in `room`. The client never joins or leaves the room. */
export function ParleyProvider({ room, http, children, ...options }: ParleyProviderProps): ReactNode {
  const [client] = useState(() => new TalkClient(options.listens));
  // A client announces its options only once, so later changes are ignored.
  const [first] = useState(options);
  useEffect(() => client.open(room, first), [client, room, first]);
  return <ParleyContext value={{ client, http }}>{children}</ParleyContext>;
}

/** @internal */
export function useParleyContext(): ParleyContextValue {
  const value = useContext(ParleyContext);
  if (!value) throw new Error("This hook must be used inside a ParleyProvider");
  return value;
}

/** @internal */
export const useTalkClient = (): TalkClient => useParleyContext().client;

/** Returns the SDK's client, for everything that has no hook. `undefined` until the client exists. */
export function useParley() {
  const client = useTalkClient();
  return useWatched(client.subscribe, () => client.parley);
}
