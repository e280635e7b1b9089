import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors/app-error.ts";
import { createId } from "../lib/id.ts";
import { claimSession } from "../store/claim-session.ts";
import { type Sql } from "../store/pool.ts";
import { releaseLease } from "../store/release-lease.ts";
import { renewLease } from "../store/renew-lease.ts";
import { reserveStanzas } from "../store/reserve-stanzas.ts";
import { type SessionRecord } from "../store/session-record.ts";
import { trimStanzas } from "../store/trim-stanzas.ts";
import { type Telemetry } from "../telemetry/telemetry.ts";
import { createEventPublisher } from "./event-publisher.ts";
import { createPermissionStore } from "./permission-store.ts";
import { Outbox } from "./outbox.ts";
import { Recorder } from "./recorder.ts";
import { restore } from "./restore.ts";
import { type RoomLink } from "./room-link.ts";
import { type SessionWatcher } from "./session-event.ts";
import { type SessionOptions } from "./session-options.ts";
import { Session } from "./session.ts";
import { StanzaCounter } from "./stanza-counter.ts";
import { SessionTelemetry } from "./telemetry/session-telemetry.ts";

/** A worker that stopped without a word loses its session after this long. */
const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
const CLAIM_RETRY_MS = 250;

export interface OpenSessionOptions extends Pick<
  SessionOptions,
  "room" | "policy" | "serverTools" | "liveTools" | "openStream" | "logger" | "voice"
> {
  readonly sql: Sql;
  /** To listen for answers to permission requests. */
  readonly databaseUrl: string;
  readonly conversationId: string;
  /** @defaultValue what this process has registered */
  readonly telemetry?: Telemetry | undefined;
  /** Names this worker in the lease. */
  readonly owner: string;
  readonly link: RoomLink;
  /** Told of what happens, beside those who follow by the database. */
  readonly watchers: readonly SessionWatcher[];
  /** Another worker has the session: this one must leave the room. */
  readonly onLost: () => void;
}

export interface OpenedSession {
  readonly session: Session;
  readonly pastTurns: number;
  readonly close: (graceMs: number) => Promise<void>;
}

/**
 * Takes the room's session (waiting for a dead worker's lease to run out), restores its history, ends what an earlier
 * worker left open, and starts it. The lease is renewed until `close`.
 *
 * @throws {AppError} `unavailable` when the database is away or another worker keeps the session
 */
export async function openSession(options: OpenSessionOptions): Promise<OpenedSession> {
  const { sql, databaseUrl, owner, link, conversationId, logger, policy } = options;
  const record = await claim(options);
  const sessionId = record.id;
  const { past, ...left } = await restore(sql, { sessionId, maxBytes: policy.toolResultMaxBytes });
  const stanzas = await StanzaCounter.open((count) => reserveStanzas(sql, { sessionId, count }));
  const outbox = new Outbox({
    conversationId,
    stanzas,
    sentBefore: record.workerStanzaReserved,
    publish: (bytes, to) => link.publish(bytes, to),
    onFailed: (type, error) => logger.warn({ type, error }, "a message could not be sent"),
  });
  const publish = createEventPublisher({ sql, sessionId, logger });
  const recorder = new Recorder(sql, sessionId, {
    onLost: (error) => logger.error({ error }, "a record was lost"),
    onCallStored: (call) => publish({ type: "tool_state_stored", call }),
  });
  const identity = { conversationId, sessionId, model: policy.model, ownTools: options.serverTools };
  const telemetry = new SessionTelemetry(options.telemetry, identity, () => recorder.waitingBlocks);
  const session = new Session({
    ...options,
    sessionId,
    outbox,
    recorder,
    permissionStore: createPermissionStore(sql, { databaseUrl, sessionId, logger }),
    past,
    watchers: [(event) => telemetry.watch(event), publish, ...options.watchers],
    telemetry,
    voice: options.voice && telemetry.observeVoice(options.voice),
  });
  session.resume(left);
  const renewal = setInterval(() => {
    renewLease(sql, { sessionId, owner, leaseMs: LEASE_MS }).then(
      (isOurs) => {
        if (isOurs) return;
        logger.error("another worker has taken the session over");
        clearInterval(renewal);
        options.onLost();
      },
      (error: unknown) => logger.warn({ error }, "the lease could not be renewed"),
    );
  }, RENEW_EVERY_MS);
  return {
    session,
    pastTurns: past.length,
    close: async (graceMs) => {
      clearInterval(renewal);
      await session.close(graceMs);
      await trimStanzas(sql, { sessionId, last: stanzas.last }).catch(() => {});
      await releaseLease(sql, { sessionId, owner }).catch(() => {});
    },
  };
}

async function claim({ sql, conversationId, room, owner }: OpenSessionOptions): Promise<SessionRecord> {
  const giveUpAt = Date.now() + LEASE_MS + RENEW_EVERY_MS;
  while (Date.now() < giveUpAt) {
    const request = {
      sessionId: createId(),
      conversationId,
      room,
      participantIdentity: null,
      owner,
      leaseMs: LEASE_MS,
    };
    const record = await claimSession(sql, request);
    if (record) return record;
    await sleep(CLAIM_RETRY_MS);
  }
  throw new AppError("unavailable", "Another worker keeps this session");
}
