import { setTimeout as sleep } from "node:timers/promises";
import { CallFeed } from "../events/call-feed.ts";
import type { EventSource } from "../events/event-source.ts";
import { LiveQueue } from "../events/live-queue.ts";
import { opencodeEvent, toOpencodeAsked, toOpencodeReplied, toPartUpdated } from "./opencode-events.ts";
import { PermissionFeed } from "../events/permission-feed.ts";
import { readUntil } from "../events/record-reader.ts";
import { findRoomSession, type RoomAccess } from "../access/room-access.ts";
import type { SseStream } from "../sse/sse-stream.ts";

interface OpencodeFeedOptions {
  readonly source: EventSource;
  readonly stream: SseStream;
  readonly access: RoomAccess;
}

/** How often to look for the session of a room that has none yet. */
const CHECK_MS = 500;

/**
 * Sends opencode's events until the reader disconnects: first what is open in the room's session, then updates to its
 * calls and permissions.
 */
export async function feedOpencode({ source, stream, access }: OpencodeFeedOptions): Promise<void> {
  const { sql, reads } = source;
  const send = stream.send.bind(stream);
  const connected = () => send(opencodeEvent("server.connected"));
  const present = await findRoomSession(sql, access).catch(() => undefined);
  if (!present) await connected();
  const sessionId = present?.id ?? (await waitForSession({ source, stream, access }));
  if (sessionId === undefined) return;
  const live = new LiveQueue(stream.closed);
  const calls = new CallFeed({ reads, sessionId, send, toEvent: (call) => toPartUpdated(call, sessionId) });
  const permissions = new PermissionFeed({
    reads,
    sessionId,
    identity: access.identity,
    send,
    toAsked: toOpencodeAsked,
    toReplied: toOpencodeReplied,
  });
  const leave = source.follow(sessionId, live);
  try {
    await source.listen();
    // Sent only now, because a client may expect to miss nothing after this event.
    if (present) await connected();
    live.onGap();
    await sendUpdates(live, { calls, permissions }, stream);
  } finally {
    leave();
  }
}

interface Feeds {
  readonly calls: CallFeed;
  readonly permissions: PermissionFeed;
}

/** Sends updates as they happen, and after a gap everything that is open. */
async function sendUpdates(live: LiveQueue, { calls, permissions }: Feeds, stream: SseStream): Promise<void> {
  const { closed } = stream;
  const showNow = async () => {
    await calls.showNow();
    await permissions.showNow();
  };
  for (;;) {
    const next = await live.next();
    if (next === "closed" || next === "quiet") return;
    if (next === "gap") {
      if (!(await readUntil(showNow, { closed }))) return stream.end();
    } else if (next.event === "tool_state") await readUntil(() => calls.showReported(next.data), { closed });
    else if (next.event === "permission.asked" || next.event === "permission.replied")
      await readUntil(() => permissions.showReported(next.data), { closed });
  }
}

/**
 * Waits until the room has a session. It may not have one yet, because opencode's clients open the stream before they
 * send anything. Returns `undefined` if the reader disconnects.
 */
async function waitForSession({ source, stream, access }: OpencodeFeedOptions): Promise<string | undefined> {
  const { closed } = stream;
  for (;;) {
    await sleep(CHECK_MS, undefined, { signal: closed }).catch(() => {});
    if (closed.aborted) return undefined;
    const session = await findRoomSession(source.sql, access).catch(() => undefined);
    if (session) return session.id;
  }
}
