import { useMessage, useTalk } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";

/** How long an Ack may take before LiveKit is asked whether it answers; also how long that answer may take, and the pause between two requests. */
const LATE_MS = 2_000;

const UnreachableContext = createContext(false);

/** Whether LiveKit does not answer, though its client still counts as connected: that notices a silent network after 15 s. */
export function useIsUnreachable(): boolean {
  return useContext(UnreachableContext);
}

/**
 * Asks LiveKit's server whether it answers while there is reason to doubt it: the browser is offline, or a message is
 * late. Being offline alone is no loss, because all may be on this machine.
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

/** Asks again and again until the signal. Never rejects. */
async function watch(address: string, { signal, tell }: WatchOptions): Promise<void> {
  while (!signal.aborted) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LATE_MS)]);
    // Whatever it answers: it is there.
    const answers = await fetch(address, { method: "HEAD", mode: "no-cors", signal: limit }).then(
      () => true,
      () => false,
    );
    if (signal.aborted) return;
    tell(!answers);
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  }
}

/** Whether this person's newest message has been on its way for too long. */
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
