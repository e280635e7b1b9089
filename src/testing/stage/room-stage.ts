import { Cleanup } from "../../lib/cleanup.ts";
import { Room } from "@livekit/rtc-node";
import { AccessToken } from "livekit-server-sdk";
import { pino } from "pino";
import { roomTransport } from "../../client/room/room-transport.ts";
import type { Transport } from "../../client/room/transport.ts";
import { createId } from "../../lib/id.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import { memoryTools } from "../../session/memory/memory-tools.ts";
import { recallTool } from "../../session/recall/recall-tool.ts";
import { migrate } from "../../store/database/migrate.ts";
import { connect } from "../../store/database/pool.ts";
import { openEventHub } from "../../store/event-hub.ts";
import { PERMISSION_CHANNEL } from "../../store/permissions/reply-to-permission.ts";
import { loadRequestMarks } from "../../store/sessions/session-marks.ts";
import { openJobSession } from "../../worker/job/job-session.ts";
import { createSessionModel } from "../../worker/job/session-model.ts";
import { type RoomServers, startRoomServers } from "./room-servers.ts";
import type { Stage, StageOptions } from "./stage.ts";

const NO_SOUND = { autoSubscribe: false, dynacast: false };

/** Opens a session as a worker's job does, in a room of a real livekit-server, stored in a real PostgreSQL. */
export async function openRoomStage(options: StageOptions, servers?: RoomServers): Promise<Stage> {
  await using cleanup = new Cleanup();
  const used = servers ?? cleanup.use(await startRoomServers());
  await migrate(used.databaseUrl);
  const name = `test-${createId()}`;
  cleanup.use(await openAgent(options, used, name));
  const { url } = used.livekit;
  let room = await join(url, await createToken(used, { room: name, identity: options.identity }));
  cleanup.defer(() => room.disconnect());
  const closing = cleanup.move();
  return {
    transport: roomTransport(room),
    isPresent: () => room.isConnected,
    leave: () => room.disconnect(),
    comeBack: async (): Promise<Transport> => {
      room = await join(url, await createToken(used, { room: name, identity: options.identity }));
      return roomTransport(room);
    },
    close: () => closing.disposeAsync(),
  };
}

/** The worker's part of the room. */
async function openAgent(
  { agent, model, watch }: StageOptions,
  servers: RoomServers,
  name: string,
): Promise<AsyncDisposable> {
  await using cleanup = new Cleanup();
  const { config, tools, agents } = agent;
  const { livekit, databaseUrl } = servers;
  const logger = pino({ level: process.env["LOG_LEVEL"] ?? "silent" });
  const sql = connect(databaseUrl, { applicationName: "parley testing" });
  cleanup.defer(() => sql.end({ timeout: 2 }));
  const permissionEvents = openEventHub({
    listenUrl: databaseUrl,
    channel: PERMISSION_CHANNEL,
    loadMarks: loadRequestMarks,
    sql,
    onError: (error) => logger.warn({ error }, "permission answers are not heard"),
  });
  cleanup.defer(() => permissionEvents.close());
  const builtIn = [
    recallTool(sql, { isAlwaysOffered: config.recall || config.context.inlineTools }),
    ...(config.memory ? memoryTools(sql) : []),
  ];
  const room = new Room();
  cleanup.defer(() => room.disconnect());
  const jobId = createId();
  const identity = agentIdentity(jobId);
  const job = {
    name,
    jobId,
    agentName: agent.name,
    room,
    connect: async () => {
      await room.connect(livekit.url, await createToken(servers, { room: name, identity, isAgent: true }), NO_SOUND);
    },
    leave: () => {},
    ...livekit,
  };
  const session = await openJobSession(job, {
    config,
    logger,
    sql,
    permissionEvents,
    serverTools: new Map([...builtIn.map((tool) => [tool.name, tool] as const), ...tools]),
    liveTools: { prefixes: [], onChanged: () => () => {} },
    ...createSessionModel(config, model, agents),
    watchers: [watch],
  });
  cleanup.defer(() => session.close(0));
  return cleanup.move();
}

async function join(url: string, token: string): Promise<Room> {
  const room = new Room();
  await room.connect(url, token, NO_SOUND);
  return room;
}

interface TokenOptions {
  readonly room: string;
  readonly identity: string;
  readonly isAgent?: boolean;
}

async function createToken(
  { livekit }: RoomServers,
  { room, identity, isAgent = false }: TokenOptions,
): Promise<string> {
  const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
  token.kind = isAgent ? "agent" : "standard";
  token.addGrant({
    room,
    roomJoin: true,
    canPublish: true,
    canSubscribe: true,
    canPublishData: true,
    canUpdateOwnMetadata: isAgent,
  });
  return token.toJwt();
}
