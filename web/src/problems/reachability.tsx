import { useMessage, useTalk } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";

/** How long an Ack may take before LiveKit is probed. Also the pause between two probes. */
const LATE_MS = 2_000;
/**
 * How long the connection may receive nothing before LiveKit is probed. Browser and server check on each other every 2
 * to 2.5 s.
 */
const SILENT_MS = 2_200;
const CHECK_EVERY_MS = 250;
/** The timeout of a probe. It is shorter (`SILENT_PROBE_MS`) if the connection is already silent. */
const PROBE_MS = 2_000;
const SILENT_PROBE_MS = 1_000;

const UnreachableContext = createContext(false);

/**
 * Returns whether LiveKit does not respond, although LiveKit's client still reports a connection. That client notices a
 * silent network only after 15 s.
 */
export function useIsUnreachable(): boolean {
  return useContext(UnreachableContext);
}

/**
 * Probes LiveKit's server while there is reason to doubt the connection: the connection receives nothing, the browser
 * is offline, or a message is late. None of these alone proves that the connection is lost: a packet may be lost,
 * LiveKit may run on this machine, and a worker may be slow.
 */
export function Reachability({ children }: { readonly children: ReactNode }): ReactNode {
  const { livekitUrl } = useJoinedTalk();
  const isOffline = useIsOffline();
  const isLate = useIsLate();
  const isSilent = useIsSilent();
  const isDoubted = isOffline || isLate || isSilent;
  const [isUnreachable, setUnreachable] = useState(false);
  useEffect(() => {
    if (!isDoubted) return undefined;
    const over = new AbortController();
    const limitMs = isSilent ? SILENT_PROBE_MS : PROBE_MS;
    void watch(livekitUrl.replace(/^ws/u, "http"), { limitMs, signal: over.signal, tell: setUnreachable });
    return () => {
      over.abort();
      setUnreachable(false);
    };
  }, [isDoubted, isSilent, livekitUrl]);
  return <UnreachableContext value={isUnreachable}>{children}</UnreachableContext>;
}

interface WatchOptions {
  /** The timeout of a probe. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly tell: (isUnreachable: boolean) => void;
}

/** Probes repeatedly until the signal aborts. Never rejects. */
async function watch(address: string, { limitMs, signal, tell }: WatchOptions): Promise<void> {
  while (!signal.aborted) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    // Any response proves that LiveKit is reachable.
    const answers = await fetch(address, { method: "HEAD", mode: "no-cors", signal: limit }).then(
      () => true,
      () => false,
    );
    if (signal.aborted) return;
    tell(!answers);
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  }
}

/** Returns whether this person's latest message has been unacknowledged for too long. */
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

/**
 * Returns whether the connection has received nothing for too long. Always false in browsers that do not measure this.
 */
function useIsSilent(): boolean {
  const { liveKit } = useJoinedTalk();
  const [isSilent, setSilent] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => {
      const { publisher, subscriber } = liveKit.engine?.pcManager ?? {};
      void silenceOf([publisher, subscriber]).then((ms) => setSilent(ms > SILENT_MS));
    }, CHECK_EVERY_MS);
    return () => clearInterval(timer);
  }, [liveKit]);
  return isSilent;
}

interface Measured {
  readonly getStats: () => Promise<RTCStatsReport> | undefined;
}

/** Returns the time in ms since any of these connections last received something; 0 if that is unknown. */
async function silenceOf(connections: readonly (Measured | undefined)[]): Promise<number> {
  const reports = await Promise.all(connections.map(async (each) => each?.getStats()?.catch(() => undefined)));
  const pairs = reports.flatMap((report) => [...((report?.values() ?? []) as Iterable<CandidatePair>)]);
  const silences = pairs.flatMap(({ type, timestamp, lastPacketReceivedTimestamp: last }) =>
    type === "candidate-pair" && last !== undefined ? timestamp - last : [],
  );
  return silences.length === 0 ? 0 : Math.min(...silences);
}

interface CandidatePair extends RTCStats {
  readonly lastPacketReceivedTimestamp?: number;
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
