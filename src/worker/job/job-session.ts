import { setTimeout as sleep } from "node:timers/promises";
import { ParticipantKind, type Room, RoomEvent } from "@livekit/rtc-node";
import { AppError } from "../../errors/app-error.ts";
import { capStreams } from "../../livekit/capped-streams.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { SessionAgents } from "../../session/agent/session-agents.ts";
import { openSession, type OpenedSession } from "../../session/open-session.ts";
import { AgentState } from "../../session/events/agent-state.ts";
import type { SessionWatcher } from "../../session/events/session-event.ts";
import { KnownMemories } from "../../session/memory/known-memories.ts";
import { createMemoryStore } from "../../session/memory/memory-store.ts";
import { RefusedRoom } from "../../session/room/refused-room.ts";
import { EarlyInput } from "../../session/room/early-input.ts";
import type { OnRoomInput, RoomInput } from "../../session/room/room-input.ts";
import { RoomLink } from "../../session/room/room-link.ts";
import { namedVoice } from "../../voice/providers/speech-choice.ts";
import type { RoomVoice, RoomVoiceOptions } from "../../voice/room-voice.ts";
import type { ConfigFileValues } from "../config-file.ts";
import type { HooksOf } from "../hooks/call-session-end.ts";
import { SessionHooks } from "../hooks/session-hooks.ts";
import { followConnection, isReconnecting } from "./connection.ts";
import type { JobServices } from "./job-services.ts";
import {
  createCallLine,
  createFormerAgents,
  createRoomApi,
  endWaiting,
  lookAt,
  seenDispatches,
  type ServedRoom,
  silence,
} from "./room-api.ts";
import { Succession } from "./succession.ts";
import { toPolicy } from "./to-policy.ts";
import { watchServerTools } from "./watch-server-tools.ts";

/** How often a session that is handed over is checked for a pause. */
const LOOK_EVERY_MS = 50;
/** Another agent is asked for after this time, also without a pause. */
const ASK_WITHIN_MS = 3_000;
/** Checks between two requests for an agent, ten seconds: an agent needs some of them, or a place is free only then. */
const LOOKS_A_REQUEST = 200;
/** LiveKit ends a job and disconnects it from its room in any order. The reason of the latter is waited for so long. */
const TOLD_WITHIN_MS = 300;

/** The services of a job that a session needs. */
export interface SessionServices extends Omit<JobServices, "config" | "close" | "hooksOf" | "tellsOfEnd"> {
  readonly config: ConfigFileValues;
  /** @defaultValue no agent has hooks */
  readonly hooksOf?: HooksOf;
  /** @defaultValue false */
  readonly tellsOfEnd?: boolean;
  /** Get the session's events. @defaultValue none */
  readonly watchers?: readonly SessionWatcher[];
}

/** A job's room, with the address and keys of LiveKit's server API. */
export interface JobRoom extends ServedRoom {
  /** Unique to this job: another job for the same room has another id. */
  readonly jobId: string;
  /** Not connected yet. */
  readonly room: Room;
  /** LiveKit's id of the room. @defaultValue unknown: neither hooks nor webhooks tell of the session */
  readonly sid?: string | undefined;
  /** The dispatch's metadata. @defaultValue none */
  readonly metadata?: string;
  /** The name to which the room was dispatched. @defaultValue none */
  readonly agentName?: string;
  readonly connect: () => Promise<void>;
  /** Ends the job: its process leaves the room. */
  readonly leave: (reason: string) => void;
  /** Called when the first server tool begins to run, and when the last one has ended. Must not throw. */
  readonly onBusy?: (isBusy: boolean) => void;
}

export interface HandOver {
  readonly withinMs: number;
  /** Asks for another agent, which is then waited for. Absent: the session is let go of at its next pause. */
  readonly onPause?: () => void;
}

export interface JobSession {
  /**
   * Gives the session to another worker's agent. At a pause, or at the latest after 3 s, `onPause` asks for that agent,
   * again and again until it is in the room. Then this one begins no more turns, and lets go of the session when the
   * running turn has ended. After `withinMs`, or at `close`, it lets go without waiting, and the next worker takes the
   * running turn up. Never rejects.
   */
  readonly handOver: (options: HandOver) => Promise<void>;
  /** Ends the session; the running turn has `graceMs` to end by itself. May be called more than once. */
  readonly close: (graceMs: number) => Promise<void>;
}

/**
 * Joins the job's room and opens its session, both at the same time. Input that arrives before the session is open is
 * handled afterwards.
 */
export async function openJobSession(job: JobRoom, services: SessionServices): Promise<JobSession> {
  const logger = services.logger.child({ room: job.name, jobId: job.jobId });
  const waiting = new EarlyInput();
  let handle: OnRoomInput = (input) => waiting.add(input);
  let lost: Extract<RoomInput, { type: "disconnected" }> | undefined;
  const whenLost = Promise.withResolvers<void>();
  const complain = (error: unknown) => logger.warn({ error }, "what is remembered could not be read");
  const memories = services.config.memory ? new KnownMemories(createMemoryStore(services.sql), complain) : undefined;
  const take: OnRoomInput = (input) => {
    if (input.type === "joined") memories?.noteJoined(input.participant.identity);
    if (input.type === "disconnected") {
      lost ??= input;
      whenLost.resolve();
    }
    handle(input);
  };
  const whyOver = async () => {
    await Promise.race([whenLost.promise, sleep(TOLD_WITHIN_MS)]);
    return lost?.over;
  };
  const link = new RoomLink(job.room, take, createRoomApi(job));
  const state = new AgentState((attributes) => setAttributes(job.room, attributes));
  const agents = new SessionAgents({
    agents: services.agents,
    standard: services.standardAgent,
    dispatch: job.metadata ?? "",
    listDispatches: () => seenDispatches(job, job.agentName ?? ""),
    dispatchedTo: job.agentName,
    lookAt: () => lookAt(job),
    memories,
    logger,
  });
  const voice = await createVoice(job.room, services, {
    take,
    logger,
    onSpeaking: (is) => state.setSpeaking(is),
    voiceName: () => agents.current.voice.name,
  });
  const conversationId = conversationIdOfRoom(job.name);
  const opening = openSession({
    sql: services.sql,
    permissionEvents: services.permissionEvents,
    conversationId,
    room: job.name,
    roomSid: job.sid,
    continues: services.config.continueConversation,
    tellsOfEnd: services.tellsOfEnd,
    owner: job.jobId,
    policy: toPolicy(services.config),
    serverTools: services.serverTools,
    liveTools: services.liveTools,
    agents,
    openStream: agents.openStream,
    countTokens: agents.countTokens,
    notesModel: services.notesModel,
    memories,
    telemetry: services.telemetry,
    link,
    voice,
    line: createCallLine(job),
    watchers: [state.watch, watchServerTools(job.onBusy), (event) => hooks?.watch(event), ...(services.watchers ?? [])],
    logger,
    ...(services.leaseMs !== undefined && { leaseMs: services.leaseMs }),
    silence: (owner) => silence(job, owner),
    onLost: () => job.leave("another worker has the session"),
  });
  opening.catch(() => {});
  const { hooksOf = () => ({}), sql, telemetry } = services;
  const hooks = job.sid
    ? new SessionHooks({
        sql,
        telemetry,
        hooksOf,
        agents,
        opening,
        conversationId,
        logger,
        room: job.name,
        roomSid: job.sid,
      })
    : undefined;
  capStreams(job.room, LIMITS.envelopeBytes);
  await job.connect().catch((error: unknown) => {
    // Lets go of the session, because this process lives on, and would keep it from later jobs of the room.
    opening.then(leave).catch(() => {});
    throw error;
  });
  agents.noteConnected();
  const dispatchesRead = agents.readDispatches();
  job.room.on(RoomEvent.ParticipantConnected, ({ kind }) => {
    if (kind === ParticipantKind.AGENT) void agents.readDispatches();
  });
  const succession = new Succession({
    room: job.room,
    ...createFormerAgents(job),
    showState: () => state.publish(),
    logger,
  });
  voice?.start();
  link.announcePresent();
  endWaiting(job);
  const opened = await opening.catch((error: unknown) => {
    if (error instanceof AppError && (error.code === "not_allowed" || error.code === "lost_lease")) return error;
    throw error;
  });
  // Before any input, because the agent that is chosen may greet.
  await dispatchesRead;
  const isServedElsewhere = "code" in opened && opened.code === "lost_lease";
  const taker = "session" in opened ? opened.session : new RefusedRoom(link, conversationId, opened);
  handle = (input) => {
    if (!isServedElsewhere) taker.handle(input);
    if (input.type === "joined" && "session" in opened) hooks?.noteJoined();
  };
  for (const input of waiting.take()) handle(input);
  if ("session" in opened) {
    logger.info({ turns: opened.pastTurns }, "session opened");
    void succession.begin(opened.untilOwned);
    followConnection(job.room, (isCutOff) => opened.setCutOff(isCutOff));
  } else if (isServedElsewhere) {
    // When LiveKit was away, its agents come back by themselves, and it asks for another one for each room.
    logger.info("another agent serves this session: leaving the room");
    job.leave("another agent serves the session");
  } else {
    logger.error({ code: opened.code }, opened.message);
    succession.giveUp();
  }
  const untilPause = async (late: AbortSignal) => {
    if (!("session" in opened)) return;
    const { session } = opened;
    while (!late.aborted) {
      await voice?.untilQuiet(late).catch(() => {});
      if (session.isAtPause) return;
      await sleep(LOOK_EVERY_MS);
    }
  };
  let isHandedOver = false;
  let lettingGo: Promise<unknown> | undefined;
  const letGo = async () => {
    succession.close();
    if ("session" in opened) await (lettingGo ??= leave(opened));
  };
  // Whether the room goes on without this agent, which nobody hears any more. LiveKit may end the job of an agent that
  // it has given up while the agent still knows only that it is cut off.
  const goesOnElsewhere = () => (lost ? lost.over === undefined : isHandedOver || isReconnecting(job.room));
  void whenLost.promise.then(() => (goesOnElsewhere() ? letGo() : undefined)).catch(() => {});
  return {
    handOver: async ({ withinMs, onPause }) => {
      isHandedOver = true;
      const late = AbortSignal.timeout(withinMs);
      // With a limit, because participants who ask without a break leave no pause.
      await untilPause(AbortSignal.any([late, AbortSignal.timeout(ASK_WITHIN_MS)]));
      const hasCome = () => link.otherAgents.length > 0;
      for (let looks = 0; onPause && !hasCome() && !late.aborted; looks++) {
        if (looks % LOOKS_A_REQUEST === 0) onPause();
        await sleep(LOOK_EVERY_MS);
      }
      if ("session" in opened) opened.session.hold();
      await untilPause(late);
      // From now on the other agent takes the input. If it is not there yet, clients send again what has no Ack.
      handle = () => {};
      await letGo();
    },
    close: async (graceMs) => {
      succession.close();
      if (goesOnElsewhere()) await letGo();
      else if ("session" in opened && (await opened.close(lost ? 0 : graceMs, hooks && whyOver))) hooks?.noteEnded();
      await voice?.close();
      state.close();
      link.close();
      await hooks?.settled();
    },
  };
}

/** Leaves the session to another worker, with the running turn as it is. */
async function leave({ session, close, abandon }: OpenedSession): Promise<void> {
  if (session.isAtPause) await close(0);
  else await abandon().catch(() => close(0));
}

/** Imports the voice only when it is wanted, because AgentSession is large. */
async function createVoice(
  room: Room,
  { speech, config }: SessionServices,
  ports: Pick<RoomVoiceOptions, "take" | "logger" | "onSpeaking" | "voiceName">,
): Promise<RoomVoice | undefined> {
  if (!speech) return undefined;
  const { RoomVoice } = await import("../../voice/room-voice.ts");
  const synthesizer = speech.synthesizer && namedVoice(speech, speech.synthesizer);
  return new RoomVoice({ ...ports, stt: speech.stt, synthesizer, room, settings: config.voice });
}

function setAttributes(room: Room, attributes: Record<string, string>): void {
  room.localParticipant?.setAttributes(attributes).catch(() => {});
}
