import { useMessage, useTalk } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";

/** How long an Ack may take before we probe LiveKit. Also the probe's timeout, and the pause between two probes. */
const LATE_MS = 2_000;

const UnreachableContext = createContext(false);

/**
 * Whether LiveKit does not respond, although its client still reports a connection. The client notices a silent network
 * only after 15 s.
 */
export function useIsUnreachable(): boolean {
  return useContext(UnreachableContext);
}

/**
 * Probes LiveKit's server while there is reason to doubt the connection: the browser is offline, or a message is late.
 * Offline alone proves nothing, because everything may run on this machine.
 */
export function Reachability({ children }: { readonly children: ReactNode }): ReactNode {
  const { livekitUrl } = useJoinedTalk();
  const isOffline = useIsOffline();
  const isLate = useIsLate();
  const isDoubted = isOffline || isLate;
  const [isUnreachable, setUnreachable] = useState(false);
  useEffect(() => {
    if (!isDoubted) return undefined;
    const over = new AbortController();
    void watch(livekitUrl.replace(/^ws/u, "http"), { signal: over.signal, tell: setUnreachable });
    return () => {
      over.abort();
      setUnreachable(false);
    };
  }, [isDoubted, livekitUrl]);
  return <UnreachableContext value={isUnreachable}>{children}</UnreachableContext>;
}

interface WatchOptions {
  readonly signal: AbortSignal;
  readonly tell: (isUnreachable: boolean) => void;
}

/** Probes repeatedly until the signal aborts. Never rejects. */
async function watch(address: string, { signal, tell }: WatchOptions): Promise<void> {
  while (!signal.aborted) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LATE_MS)]);
    // Any response proves that it is reachable.
    const answers = await fetch(address, { method: "HEAD", mode: "no-cors", signal: limit }).then(
      () => true,
      () => false,
    );
    if (signal.aborted) return;
    tell(!answers);
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  }
}

/** Whether this person's latest message has been unacknowledged for too long. */
function useIsLate(): boolean {
  const { messages } = useTalk();
  const newest = messages.findLast(({ role, from }) => role === "user" && from === undefined);
  const isSending = useMessage(newest?.id ?? "")?.state === "sending";
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isSending) return undefined;
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isSending]);
  return isLate;
}

function useIsOffline(): boolean {
  return useSyncExternalStore(subscribeToNetwork, () => !navigator.onLine);
}

function subscribeToNetwork(listener: () => void): () => void {
  for (const event of ["online", "offline"]) window.addEventListener(event, listener);
  return () => {
    for (const event of ["online", "offline"]) window.removeEventListener(event, listener);
  };
}
