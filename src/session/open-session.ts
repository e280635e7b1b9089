import { hostname } from "node:os";
import { keepLanguage, keepSessionAgent, loadLanguages, loadSessionAgent } from "../store/sessions/sessions.ts";
import type { Begun } from "../store/sessions/session-rooms.ts";
import type { Sql } from "../store/database/pool.ts";
import { reserveStanzas, trimStanzas } from "../store/sessions/stanzas.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { CallEnd, type CallLine } from "./agent/call-end.ts";
import { ofAgent } from "./agent/of-agent.ts";
import { CountedLog } from "./wire/counted-log.ts";
import { SessionRoom } from "./ending/session-room.ts";
import { behindRecord } from "./events/behind-record.ts";
import { createEventPublisher } from "./events/event-publisher.ts";
import { createPermissionStore, type PermissionEvents } from "./permission/permission-store.ts";
import { Outbox, StanzaCounter } from "./wire/outbox.ts";
import { Recorder } from "./record/recorder.ts";
import { createTalkArchive } from "./record/talk-archive.ts";
import { restore } from "./restore/restore.ts";
import { claimRoomSession, type RoomSession } from "./restore/claim-room-session.ts";
import { leasedLink } from "./record/leased-link.ts";
import type { RoomOver } from "./room/room-input.ts";
import type { RoomLink } from "./room/room-link.ts";
import type { SessionWatcher } from "./events/session-event.ts";
import type { KnownMemories } from "./memory/known-memories.ts";
import { ToldMemories } from "./memory/told-memories.ts";
import { BUDGET_NAMES } from "./spending/budget.ts";
import { Spending } from "./spending/spending.ts";
import { Session } from "./session.ts";
import type { SessionOptions } from "./session-options.ts";
import { SessionTelemetry } from "./telemetry/session-telemetry.ts";

/** An average for text, used for turns of older versions, which did not store their tokens. */
const BYTES_A_TOKEN = 3;

export interface OpenSessionOptions extends Pick<
  SessionOptions,
  | "room"
  | "policy"
  | "serverTools"
  | "liveTools"
  | "agents"
  | "openStream"
  | "countTokens"
  | "notesModel"
  | "logger"
  | "voice"
> {
  readonly sql: Sql;
  /** Tells of answers to permission requests. */
  readonly permissionEvents: PermissionEvents;
  readonly conversationId: string;
  /** @defaultValue nothing is remembered */
  readonly memories?: KnownMemories | undefined;
  /**
   * LiveKit's id of the room, which differs from that of a later room of the same name. @defaultValue hand-offs, start
   * and end of the session are not stored
   */
  readonly roomSid?: string | undefined;
  /**
   * Whether the room continues the session of an earlier room of the same name. If not, that session is ended, and this
   * room gets a new one. Needs `roomSid`. @defaultValue true
   */
  readonly continues?: boolean | undefined;
  /** Whether a webhook tells the operator's server of the session's end. @defaultValue false */
  readonly tellsOfEnd?: boolean | undefined;
  /** @defaultValue the telemetry that this process has registered */
  readonly telemetry?: Telemetry | undefined;
  /** Names this worker in the lease. */
  readonly owner: string;
  /** A worker that stopped without a word loses its session after this long. @defaultValue 12000 */
  readonly leaseMs?: number;
  readonly link: Pick<RoomLink, "publish" | "openTranscription" | "otherAgents">;
  /** @defaultValue no call can be ended, and no agent has tools for it */
  readonly line?: CallLine;
  /** Get the session's events, as do those who follow through the database. */
  readonly watchers: readonly SessionWatcher[];
  /**
   * Lets nothing more of a worker whose lease has run out into the room: it may have stood still with packets to send.
   * Never rejects.
   */
  readonly silence: (owner: string) => Promise<void>;
  /** Called when another worker has the session: this one must leave the room. */
  readonly onLost: () => void;
}

export interface OpenedSession {
  readonly session: Session;
  readonly sessionId: string;
  /** Stores the start of the session in this room. Call it when a participant is there. */
  readonly begin: (agent: string) => Promise<Begun>;
  /** The number of turns so far, replaced ones included. */
  readonly pastTurns: number;
  /**
   * Resolves when it is certain that no other worker has the session.
   *
   * @throws {AppError} `lost_lease`
   */
  readonly untilOwned: () => Promise<void>;
  /** Says whether the room can be reached. While it cannot, another worker may soon take the session. */
  readonly setCutOff: (isCutOff: boolean) => void;
  /** Stops at once, and leaves the session as it is to the next worker, which takes the running turn up. */
  readonly abandon: () => Promise<void>;
  /**
   * @param whyOver asked last, why the room is closed; the session has ended if it is closed for all
   * @returns whether the session has ended; if not, it goes on elsewhere, or has never started
   */
  readonly close: (graceMs: number, whyOver?: () => Promise<RoomOver | undefined>) => Promise<boolean>;
}

/**
 * Takes the room's session (waiting for a dead worker's lease to run out), restores its history, ends what an earlier
 * worker left open, and starts it. The lease is renewed until `close`.
 *
 * @throws {AppError} `unavailable` when the database is away or another worker keeps the session
 */
export async function openSession(options: OpenSessionOptions): Promise<OpenedSession> {
  const claimed = await claimRoomSession({ ...options, resultMaxBytes: options.policy.toolResultMaxBytes });
  try {
    return await start(options, claimed);
  } catch (error) {
    await claimed.lease.release().catch(() => {});
    throw error;
  }
}

async function start(options: OpenSessionOptions, { lease, sentBefore, ended }: RoomSession): Promise<OpenedSession> {
  const { conversationId, logger, agents } = options;
  const { writer } = lease;
  const { sessionId } = writer.lease;
  const { roomSid } = options;
  const handedTo = agents && roomSid && (await loadSessionAgent(options.sql, { sessionId, roomSid }));
  if (handedTo) agents?.restore(handedTo);
  const callEnd = options.line && new CallEnd(options.line, logger);
  const { policy, serverTools, liveTools } = ofAgent(options, {
    line: options.line,
    callEnd,
    setLanguage: async (identity, language) => {
      await keepLanguage(writer, { identity, language });
      session.setLanguage(identity, language);
    },
    keepAgent: async (agent) => roomSid && (await keepSessionAgent(writer, { agent, roomSid })),
    forget: (summary) => session.forget(summary),
  });
  const link = leasedLink(options.link, lease);
  const archive = createTalkArchive(writer, {
    model: policy.model,
    maxBytes: policy.context.budgetTokens * BYTES_A_TOKEN,
  });
  const restored = await restore(writer, { archive, resultMaxBytes: policy.toolResultMaxBytes });
  const languages = await loadLanguages(options.sql, { sessionId });
  const stanzas = await StanzaCounter.open((count) => reserveStanzas(writer, { count }));
  const unsent = new CountedLog(logger, "a message could not be sent");
  const outbox = new Outbox({
    conversationId,
    stanzas,
    sentBefore,
    publish: (bytes, to) => link.publish(bytes, to),
    onFailed: (type, error) => unsent.note({ type }, error),
  });
  const publish = createEventPublisher({ writer, logger });
  const unkept = new CountedLog(logger, "a further answer to a call was not kept");
  const recorder = new Recorder(lease, {
    onLost: (error) => logger.error({ error }, "a record was lost"),
    onUnkept: (error) => unkept.note({ code: error.code }, error),
    onCallStored: (call) => publish({ type: "tool_state_stored", call }),
  });
  const identity = { conversationId, sessionId, model: policy.model, ownTools: serverTools };
  const telemetry = new SessionTelemetry(options.telemetry, identity, () => recorder.waitingBlocks);
  const { budget = {}, prices = {} } = policy;
  const spending = new Spending({
    sql: options.sql,
    sessionId,
    worker: hostname(),
    budget,
    prices,
    onLost: (error) => logger.error({ error }, "spending was not counted"),
    onSpent: (spent) => telemetry.noteSpent(spent),
    onBudget: (scope, event) => {
      logger.warn({ budget: BUDGET_NAMES[scope], event }, "a budget is used up, or nearly");
      telemetry.noteBudget(BUDGET_NAMES[scope], event);
    },
  });
  const session = new Session({
    sessionId,
    room: options.room,
    roomSid,
    policy,
    serverTools,
    liveTools,
    agents,
    openStream: spending.limited(options.openStream, () => agents?.current.model ?? policy.model),
    countTokens: options.countTokens,
    notesModel: options.notesModel && spending.countedNotes(options.notesModel),
    logger,
    link,
    outbox,
    recorder,
    spending,
    memories: options.memories && new ToldMemories(options.memories),
    permissionStore: createPermissionStore(writer, options.permissionEvents),
    restored,
    archive,
    watchers: [(event) => telemetry.watch(event), behindRecord(publish, recorder), ...options.watchers],
    telemetry,
    voice: options.voice && telemetry.observeVoice(options.voice),
    callEnd,
    onLanguageDropped: (identity) => {
      keepLanguage(writer, { identity, language: undefined }).catch((error: unknown) => {
        logger.warn({ error }, "a language that holds no more could not be removed");
      });
    },
  });
  for (const [identity, language] of languages) session.setLanguage(identity, language);
  session.resume(restored);
  const { lastPosition } = restored;
  const sessionRoom = roomSid
    ? new SessionRoom({ writer, roomSid, lastPosition, isTold: options.tellsOfEnd ?? false })
    : undefined;
  const end = async (over: RoomOver) => {
    const reason = over === "room_deleted" && callEnd?.isEnded ? "ended_by_agent" : over;
    try {
      const isEnded = (await sessionRoom?.end(reason)) ?? false;
      if (isEnded) logger.info({ reason }, "session ended");
      return isEnded;
    } catch (error) {
      // Some worker will find that the room is gone, and store the end then.
      logger.warn({ error, reason }, "the end of the session could not be stored");
      return false;
    }
  };
  let closing: Promise<boolean> | undefined;
  const close: OpenedSession["close"] = async (graceMs, whyOver) => {
    await session.close(graceMs);
    unsent.close();
    unkept.close();
    await spending.close();
    await trimStanzas(writer, { last: stanzas.last }).catch(() => {});
    const over = await whyOver?.();
    const isEnded = over !== undefined && (await end(over));
    await sessionRoom?.close();
    await lease.release().catch(() => {});
    return isEnded;
  };
  const closeOnce: OpenedSession["close"] = (graceMs, whyOver) => (closing ??= close(graceMs, whyOver));
  const onLost = () => {
    void closeOnce(0);
    options.onLost();
  };
  if (lease.lost.aborted) onLost();
  else lease.lost.addEventListener("abort", onLost, { once: true });
  const setCutOff = (isCutOff: boolean) => lease.setCutOff(isCutOff);
  const abandon = async () => {
    await lease.abandon();
    await closing;
  };
  const begin = async (agent: string) => {
    const begun = await sessionRoom?.begin(agent);
    return { isNew: begun?.isNew ?? false, ended: [...ended, ...(begun?.ended ?? [])] };
  };
  const untilOwned = () => lease.untilOwned();
  return { session, sessionId, pastTurns: lastPosition, begin, untilOwned, setCutOff, abandon, close: closeOnce };
}
