import { ParticipantKind, type Room, RoomEvent } from "@livekit/rtc-node";
import { AppError } from "../../errors/app-error.ts";
import { capStreams } from "../../livekit/capped-streams.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { SessionAgents } from "../../session/agent/session-agents.ts";
import { openSession, type OpenedSession } from "../../session/open-session.ts";
import { AgentState } from "../../session/events/agent-state.ts";
import type { SessionWatcher } from "../../session/events/session-event.ts";
import { MemorySnapshots } from "../../session/memory/memory-snapshots.ts";
import { createMemoryStore } from "../../session/memory/memory-store.ts";
import { RefusedRoom } from "../../session/room/refused-room.ts";
import type { OnRoomInput } from "../../session/room/room-input.ts";
import { RoomLink } from "../../session/room/room-link.ts";
import type { RoomVoiceParts } from "../../voice/create-room-voice.ts";
import type { RoomVoice } from "../../voice/room-voice.ts";
import type { ConfigFileValues } from "../config-file.ts";
import type { Logger } from "../logger.ts";
import type { HooksOf } from "../hooks/call-session-end.ts";
import { SessionHooks } from "../hooks/session-hooks.ts";
import { followConnection, setOwnAttributes } from "./connection.ts";
import { JobInput } from "./job-input.ts";
import { JobSession, type JobRoom, type JobSessionState, releaseSession } from "./job-session.ts";
import type { JobServices } from "./job-services.ts";
import {
  createCallLine,
  createFormerAgents,
  createRoomApi,
  endWaiting,
  readRoom,
  seenDispatches,
  silence,
} from "./room-api.ts";
import { Succession } from "./succession.ts";
import { decideContinuation } from "./decide-continuation.ts";
import { toPolicy } from "./to-policy.ts";
import { watchServerTools } from "./watch-server-tools.ts";

/** The services of a job that a session needs. */
export interface SessionServices extends Omit<JobServices, "config" | "close" | "hooksOf" | "hasEndWebhook"> {
  readonly config: ConfigFileValues;
  /** @defaultValue no agent has hooks */
  readonly hooksOf?: HooksOf;
  /** @defaultValue false */
  readonly hasEndWebhook?: boolean;
  /** Called with the session's events. @defaultValue none */
  readonly watchers?: readonly SessionWatcher[];
}

/**
 * Joins the job's room and opens its session, both at the same time. Input that arrives before the session is open is
 * buffered and handled afterwards.
 */
export async function openJobSession(job: JobRoom, services: SessionServices): Promise<JobSession> {
  const logger = services.logger.child({ room: job.name, jobId: job.jobId });
  const input = new JobInput();
  const present = Promise.withResolvers<void>();
  const memories = createMemories(services, logger);
  const take: OnRoomInput = (each) => {
    if (each.type === "joined") present.resolve();
    if (each.type === "joined") memories?.handleJoined(each.participant.identity);
    input.take(each);
  };
  const { turns, listen } = services.config.voice;
  const hasTurnKey = (services.speech?.stt !== undefined || listen !== undefined) && turns === "manual";
  const link = new RoomLink(job.room, take, { ...createRoomApi(job), hasTurnKey });
  const agentState = new AgentState((attributes) => setOwnAttributes(job.room, attributes));
  const agents = createAgents(job, services, { memories, logger });
  const opened = Promise.withResolvers<void>();
  const voice = await createVoice(services, {
    room: job.room,
    take,
    logger,
    onSpeaking: (is) => agentState.setSpeaking(is),
    agents,
    opened: opened.promise,
  });
  const { continueConversation } = services.config;
  const opening = openSession({
    ...sessionOf(job, services),
    continues:
      typeof continueConversation === "function"
        ? decideContinuation(continueConversation, { job, agents, present: present.promise, logger })
        : continueConversation,
    agents,
    openStream: agents.openStream,
    countTokens: agents.countTokens,
    memories,
    link,
    voice,
    watchers: [
      agentState.watch,
      watchServerTools(job.onBusy),
      (event) => hooks?.watch(event),
      ...(services.watchers ?? []),
    ],
    logger,
  });
  opening.catch(() => {});
  const hooks = createHooks(job, services, { agents, opening, logger });
  capStreams(job.room, LIMITS.envelopeBytes);
  await connect(job, opening);
  agents.handleConnected();
  const dispatchesRead = followDispatches(job.room, agents);
  const succession = new Succession({
    room: job.room,
    ...createFormerAgents(job),
    showState: () => agentState.publish(),
    logger,
  });
  voice?.start();
  link.announcePresent();
  endWaiting(job);
  const state = await stateOf(opening);
  // The dispatches are read before input is handled, because the agent that a dispatch chooses may greet participants.
  await dispatchesRead;
  input.handTo(handlerOf(state, { link, hooks, conversationId: conversationIdOfRoom(job.name) }));
  opened.resolve();
  begin(state, { job, succession, logger });
  return new JobSession({ job, state, input, link, agentState, voice, hooks, succession });
}

/** Joins the job's room. If that fails, releases the session. */
async function connect(job: JobRoom, opening: Promise<OpenedSession>): Promise<void> {
  try {
    await job.connect();
  } catch (error) {
    // This process keeps running and would otherwise block the session for later jobs.
    opening.then(releaseSession).catch(() => {});
    throw error;
  }
}

/** Resolves once the dispatches are read. Reads them again whenever another agent joins. */
function followDispatches(room: Room, agents: SessionAgents): Promise<void> {
  const read = agents.readDispatches();
  room.on(RoomEvent.ParticipantConnected, ({ kind }) => {
    if (kind === ParticipantKind.AGENT) void agents.readDispatches();
  });
  return read;
}

async function stateOf(opening: Promise<OpenedSession>): Promise<JobSessionState> {
  try {
    return { name: "serving", opened: await opening };
  } catch (error) {
    if (error instanceof AppError && error.code === "lost_lease") return { name: "elsewhere" };
    if (error instanceof AppError && error.code === "not_allowed") return { name: "refused", why: error };
    throw error;
  }
}

interface HandlerParts {
  readonly link: RoomLink;
  readonly hooks: SessionHooks | undefined;
  readonly conversationId: string;
}

function handlerOf(state: JobSessionState, { link, hooks, conversationId }: HandlerParts): OnRoomInput {
  switch (state.name) {
    case "serving":
      return (input) => {
        state.opened.session.handle(input);
        if (input.type === "joined") hooks?.handleJoined();
      };
    case "refused": {
      const refused = new RefusedRoom(link, conversationId, state.why);
      return (input) => refused.handle(input);
    }
    case "elsewhere":
      return () => {};
  }
}

interface BeginParts {
  readonly job: JobRoom;
  readonly succession: Succession;
  readonly logger: Logger;
}

function begin(state: JobSessionState, { job, succession, logger }: BeginParts): void {
  switch (state.name) {
    case "serving": {
      const { opened } = state;
      logger.info({ turns: opened.pastTurns }, "session opened");
      void succession.begin(opened.untilOwned);
      followConnection(job.room, (isCutOff) => opened.setCutOff(isCutOff));
      return;
    }
    case "elsewhere":
      // After a LiveKit outage, agents rejoin on their own, but LiveKit also requests another agent for each room.
      logger.info("another agent serves this session, leaving the room");
      return job.leave("another agent serves the session");
    case "refused":
      logger.error({ code: state.why.code }, state.why.message);
      return succession.giveUp();
  }
}

/** Returns the session options that are taken unchanged from the job and its process. */
function sessionOf(job: JobRoom, services: SessionServices) {
  const { sql, permissionEvents, config, hasEndWebhook, serverTools, liveTools, summaryModel, telemetry, leaseMs } =
    services;
  return {
    sql,
    permissionEvents,
    conversationId: conversationIdOfRoom(job.name),
    room: job.name,
    roomSid: job.sid,
    hasEndWebhook,
    owner: job.jobId,
    policy: toPolicy(config),
    serverTools,
    liveTools,
    summaryModel,
    telemetry,
    line: createCallLine(job),
    ...(leaseMs !== undefined && { leaseMs }),
    silence: (owner: string) => silence(job, owner),
    onLost: () => job.leave("another worker has the session"),
  };
}

function createMemories({ config, sql }: SessionServices, logger: Logger): MemorySnapshots | undefined {
  if (!config.memory) return undefined;
  const complain = (error: unknown) => logger.warn({ error }, "reading memories failed");
  return new MemorySnapshots(createMemoryStore(sql), complain);
}

interface AgentsParts {
  readonly memories: MemorySnapshots | undefined;
  readonly logger: Logger;
}

function createAgents(job: JobRoom, services: SessionServices, { memories, logger }: AgentsParts): SessionAgents {
  return new SessionAgents({
    agents: services.agents,
    defaultAgent: services.defaultAgent,
    dispatch: job.metadata ?? "",
    listDispatches: () => seenDispatches(job, job.agentName ?? ""),
    dispatchedTo: job.agentName,
    readRoom: () => readRoom(job),
    memories,
    logger,
  });
}

interface HooksParts {
  readonly agents: SessionAgents;
  readonly opening: Promise<OpenedSession>;
  readonly logger: Logger;
}

/** Returns `undefined` for a room without an id: no hooks are called for its session. */
function createHooks(
  { sid: roomSid, name: room }: JobRoom,
  { sql, telemetry, hooksOf = () => ({}) }: SessionServices,
  parts: HooksParts,
): SessionHooks | undefined {
  if (roomSid === undefined || roomSid === "") return undefined;
  const conversationId = conversationIdOfRoom(room);
  return new SessionHooks({ sql, telemetry, hooksOf, conversationId, room, roomSid, ...parts });
}

/** Creates the room's voice if speech is configured. Imports it only then, because AgentSession is large. */
async function createVoice(
  { speech, config, agents }: SessionServices,
  ports: Omit<RoomVoiceParts, "shared" | "settings" | "served">,
): Promise<RoomVoice | undefined> {
  if (!speech) return undefined;
  const { createRoomVoice } = await import("../../voice/create-room-voice.ts");
  return createRoomVoice({ ...ports, shared: speech, settings: config.voice, served: agents });
}
