import { AutoSubscribe, type JobContext } from "@livekit/agents";
import { ParticipantKind } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { createId } from "../lib/id.ts";
import { conversationIdOfRoom } from "../protocol/conversation-id.ts";
import { LIMITS } from "../protocol/limits.ts";
import { openSession } from "../session/open-session.ts";
import { RoomLink, type RoomListener } from "../session/room-link.ts";
import { type ListParticipants } from "../session/sender-resolver.ts";
import { type Session } from "../session/session.ts";
import { type JobServices } from "./job-services.ts";

export interface JobSession {
  /** Ends the session; may be called more than once. */
  readonly close: (graceMs: number) => Promise<void>;
}

/**
 * Joins the job's room and opens its session there. What arrives before the session is restored waits for it, so that
 * joining and restoring go on at the same time.
 */
export async function openJobSession(context: JobContext, services: JobServices): Promise<JobSession> {
  const roomName = context.job.room?.name ?? "";
  const logger = services.logger.child({ room: roomName, jobId: context.job.id });
  const backlog: ((session: Session) => void)[] = [];
  let session: Session | undefined;
  const tell = (action: (session: Session) => void) => {
    if (session) action(session);
    else backlog.push(action);
  };
  let isDisconnected = false;
  const listener: RoomListener = {
    onJoined: (participant) => tell((open) => open.onJoined(participant)),
    onLeft: (identity) => tell((open) => open.onLeft(identity)),
    onPacket: (from, bytes) => tell((open) => open.onPacket(from, bytes)),
    onChat: (from, message) => tell((open) => open.onChat(from, message)),
    onDropped: (reason) => tell((open) => open.onDropped(reason)),
    onDisconnected: () => {
      isDisconnected = true;
    },
  };
  const link = new RoomLink(context.room, listener, participantLister(context, roomName));
  const opening = openSession({
    sql: services.sql,
    conversationId: conversationIdOfRoom(roomName),
    room: roomName,
    owner: context.job.id || createId(),
    policy: { ...services.config, model: services.config.model.name },
    serverTools: services.serverTools,
    openStream: services.openStream,
    link,
    logger,
  });
  opening.catch(() => {});
  await connect(context);
  link.announcePresent();
  const opened = await opening;
  session = opened.session;
  for (const action of backlog.splice(0)) action(session);
  logger.info({ turns: opened.pastTurns }, "session opened");
  return {
    close: async (graceMs) => {
      await opened.close(isDisconnected ? 0 : graceMs);
      link.close();
    },
  };
}

/** Incoming streams are capped: without it one participant can make this process hold 5 GB (FAULTS 2). */
async function connect(context: JobContext): Promise<void> {
  const { room } = context;
  const connectRoom = room.connect.bind(room);
  room.connect = (url, token, options) =>
    connectRoom(url, token, {
      autoSubscribe: false,
      dynacast: false,
      ...options,
      dataStream: { maxPayloadByteLength: LIMITS.envelopeBytes },
    });
  await context.connect(undefined, AutoSubscribe.SUBSCRIBE_NONE);
}

function participantLister(context: JobContext, roomName: string): ListParticipants {
  const { url, apiKey, apiSecret } = context.info;
  const client = new RoomServiceClient(url.replace(/^ws/u, "http"), apiKey, apiSecret);
  return async () =>
    (await client.listParticipants(roomName)).map(({ identity, sid, kind, permission }) => ({
      identity,
      sid,
      isSip: Number(kind) === Number(ParticipantKind.SIP),
      isAgent: Number(kind) === Number(ParticipantKind.AGENT),
      isHidden: permission?.hidden ?? false,
    }));
}
