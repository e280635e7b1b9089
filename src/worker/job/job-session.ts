import { ParticipantKind, type Room } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { AppError } from "../../errors/app-error.ts";
import { isCleanText } from "../../lib/clean-json.ts";
import { agentIdentity, conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { openSession } from "../../session/open-session.ts";
import { AgentState } from "../../session/events/agent-state.ts";
import { RefusedRoom, type RoomTalk } from "../../session/room/refused-room.ts";
import { RoomLink, type RoomListener } from "../../session/room/room-link.ts";
import { type RoomApi } from "../../session/room/sender-resolver.ts";
import { type VoiceListener } from "../../session/room/voice-port.ts";
import { type RoomVoice, type RoomVoiceOptions } from "../../voice/room-voice.ts";
import { type JobServices } from "./job-services.ts";

const ANNOUNCE = "parley.announce";

/** The room of a job, and what reaches its server's API. */
export interface JobRoom {
  readonly name: string;
  /** Unique to this worker's stay in the room. */
  readonly jobId: string;
  /** Not connected yet. */
  readonly room: Room;
  readonly connect: () => Promise<void>;
  /** Ends the job: its process leaves the room. */
  readonly leave: (reason: string) => void;
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly apiSecret: string | undefined;
}

export interface JobSession {
  /** Ends the session; may be called more than once. */
  readonly close: (graceMs: number) => Promise<void>;
}

/**
 * Joins the job's room and opens its session there. What arrives before the session is restored waits for it, so that
 * joining and restoring go on at the same time.
 */
export async function openJobSession(job: JobRoom, services: JobServices): Promise<JobSession> {
  const logger = services.logger.child({ room: job.name, jobId: job.jobId });
  const backlog: ((talk: RoomTalk) => void)[] = [];
  let talk: RoomTalk | undefined;
  const tell = (action: (talk: RoomTalk) => void) => {
    if (talk) action(talk);
    else backlog.push(action);
  };
  let isDisconnected = false;
  const listener: RoomListener & VoiceListener = {
    onJoined: (participant) => tell((open) => open.onJoined(participant)),
    onLeft: (identity) => tell((open) => open.onLeft(identity)),
    onPacket: (from, bytes) => tell((open) => open.onPacket(from, bytes)),
    onChat: (from, message) => tell((open) => open.onChat(from, message)),
    onTranscript: (from, transcript) => tell((open) => open.onTranscript(from, transcript)),
    onUtterance: (from, transcript) => tell((open) => open.onUtterance(from, transcript)),
    onUnclear: (candidates, bytes) => tell((open) => open.onUnclear(candidates, bytes)),
    onStreamRefused: (identity) => tell((open) => open.onStreamRefused(identity)),
    // Keys are pressed as words are said: over an answer.
    onKeys: (from, message) => tell((open) => open.onUtterance(from, { ...message, language: undefined })),
    onDropped: (reason) => tell((open) => open.onDropped(reason)),
    onDisconnected: () => {
      isDisconnected = true;
    },
  };
  const link = new RoomLink(job.room, listener, createRoomApi(job));
  const state = new AgentState((attributes) => setAttributes(job.room, attributes));
  const voice = await createVoice(job.room, services, { listener, logger, onSpeaking: (is) => state.setSpeaking(is) });
  const conversationId = conversationIdOfRoom(job.name);
  const opening = openSession({
    sql: services.sql,
    databaseUrl: services.databaseUrl,
    conversationId,
    room: job.name,
    owner: job.jobId,
    policy: { ...services.config, model: services.config.model.name },
    serverTools: services.serverTools,
    liveTools: services.liveTools,
    openStream: services.openStream,
    telemetry: services.telemetry,
    link,
    voice,
    watchers: [state.watch],
    logger,
    ...(services.leaseMs !== undefined && { leaseMs: services.leaseMs }),
    evict: (owner) => evict(job, owner),
    onLost: () => job.leave("another worker has the session"),
  });
  opening.catch(() => {});
  capStreams(job.room);
  await job.connect();
  // Besides telling its state, this makes LiveKit announce us to clients at once and not up to 3 s later.
  state.publish();
  voice?.start();
  link.announcePresent();
  const opened = await opening.catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "not_allowed") throw error;
    return error;
  });
  talk = "session" in opened ? opened.session : new RefusedRoom(link, conversationId, opened);
  for (const action of backlog.splice(0)) action(talk);
  if ("session" in opened) logger.info({ turns: opened.pastTurns }, "session opened");
  else logger.error({ code: opened.code }, opened.message);
  return {
    close: async (graceMs) => {
      if ("session" in opened) await opened.close(isDisconnected ? 0 : graceMs);
      await voice?.close();
      state.close();
      link.close();
    },
  };
}

/** Loaded only where it is wanted: AgentSession is large. */
async function createVoice(
  room: Room,
  { speech, config }: JobServices,
  rest: Pick<RoomVoiceOptions, "listener" | "logger" | "onSpeaking">,
): Promise<RoomVoice | undefined> {
  if (!speech) return undefined;
  const { RoomVoice } = await import("../../voice/room-voice.ts");
  return new RoomVoice({ ...rest, ...speech, room, settings: config.voice });
}

function setAttributes(room: Room, attributes: Record<string, string>): void {
  room.localParticipant?.setAttributes(attributes).catch(() => {});
}

/** Incoming streams are capped: without it one participant can make this process hold 5 GB (FAULTS 2). */
function capStreams(room: Room): void {
  const connect = room.connect.bind(room);
  const dataStream = { maxPayloadByteLength: LIMITS.envelopeBytes };
  room.connect = (url, token, options) =>
    connect(url, token, { autoSubscribe: false, dynacast: false, ...options, dataStream });
}

function apiClient({ url, apiKey, apiSecret }: JobRoom): RoomServiceClient {
  return new RoomServiceClient(url.replace(/^ws/u, "http"), apiKey, apiSecret, { requestTimeout: 5 });
}

/** It has left by itself, in most cases. */
async function evict(job: JobRoom, owner: string): Promise<void> {
  await apiClient(job)
    .removeParticipant(job.name, agentIdentity(owner))
    .catch(() => {});
}

function createRoomApi(job: JobRoom): RoomApi {
  const { name } = job;
  const client = apiClient(job);
  return {
    list: async () =>
      (await client.listParticipants(name)).map(({ identity, sid, kind, permission }) => ({
        identity,
        sid,
        isSip: Number(kind) === Number(ParticipantKind.SIP),
        isAgent: Number(kind) === Number(ParticipantKind.AGENT),
        isHidden: (permission?.hidden ?? false) || !isCleanText(identity),
        canSend: permission?.canPublishData ?? true,
      })),
    // Removing an attribute that is not there changes nothing, but the server tells everyone of the participant at once.
    announce: async (identity) =>
      void (await client.updateParticipant(name, identity, { attributes: { [ANNOUNCE]: "" } })),
  };
}
