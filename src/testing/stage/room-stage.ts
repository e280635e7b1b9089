import { Cleanup } from "../../lib/cleanup.ts";
import { Room } from "@livekit/rtc-node";
import { pino } from "pino";
import { roomTransport } from "../../client/room/room-transport.ts";
import type { Transport } from "../../client/room/transport.ts";
import { createId } from "../../lib/id.ts";
import { grantToken } from "../../livekit/grant-token.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import { createMemoryStore } from "../../session/memory/memory-store.ts";
import { createRecallStore } from "../../session/recall/recall-store.ts";
import { migrate } from "../../store/database/migrate.ts";
import { connect } from "../../store/database/pool.ts";
import { openEventHub } from "../../store/event-hub.ts";
import { PERMISSION_CHANNEL } from "../../store/permissions/reply-to-permission.ts";
import { loadRequestMarks } from "../../store/sessions/session-marks.ts";
import type { Speech } from "../../voice/providers/speech-choice.ts";
import { openJobSession } from "../../worker/job/open-job-session.ts";
import { builtInTools } from "../../worker/job/built-in-tools.ts";
import { createSessionModel } from "../../worker/job/session-model.ts";
import { type RoomServers, startRoomServers } from "./room-servers.ts";
import type { Stage, StageOptions } from "./stage.ts";

/** No automatic subscriptions: in a voice session, each end subscribes to the tracks it needs. */
const NO_TRACKS = { autoSubscribe: false, dynacast: false };

export interface RoomStageOptions extends StageOptions {
  /** @defaultValue both servers are started for this stage */
  readonly servers?: RoomServers | undefined;
  /** Whether both ends speak and listen. */
  readonly hasVoice: boolean;
  /** The participant's language (BCP 47). */
  readonly language: string | undefined;
}

/** Opens a session as a worker's job does, with a real livekit-server and a real PostgreSQL. */
export async function openRoomStage(options: RoomStageOptions): Promise<Stage> {
  await using cleanup = new Cleanup();
  const used = options.servers ?? cleanup.use(await startRoomServers());
  await migrate(used.databaseUrl);
  const name = `test-${createId()}`;
  const sound = options.hasVoice ? cleanup.use(await openSound(options.language)) : undefined;
  const agent = cleanup.use(await openAgent(options, { servers: used, name, speech: sound?.speech }));
  let room: Room | undefined;
  const leave = async () => {
    await sound?.leave();
    await room?.disconnect();
  };
  cleanup.defer(leave);
  const enter = async (): Promise<Transport> => {
    const token = await grantToken(used.livekit, { room: name, identity: options.identity });
    room = new Room();
    await room.connect(used.livekit.url, token, NO_TRACKS);
    await sound?.enter(room, agent.room);
    return roomTransport(room);
  };
  const transport = await enter();
  const closing = cleanup.move();
  return {
    transport,
    isPresent: () => room?.isConnected === true,
    ...(sound && { voice: sound }),
    leave,
    comeBack: enter,
    close: () => closing.disposeAsync(),
  };
}

/** Opens the audio of a voice session. The module is imported only here, because AgentSession is large. */
async function openSound(language: string | undefined) {
  const { Sound } = await import("./sound.ts");
  return Sound.open(language);
}

interface AgentPlace {
  readonly servers: RoomServers;
  /** The room's name. */
  readonly name: string;
  readonly speech: Speech | undefined;
}

/** Opens the worker's end of the room. */
async function openAgent(
  { agent, model, watch }: StageOptions,
  { servers, name, speech }: AgentPlace,
): Promise<AsyncDisposable & { readonly room: Room }> {
  await using cleanup = new Cleanup();
  const { tools, agents } = agent;
  // A preemptive model call would use up a reply of the script.
  const config = { ...agent.config, voice: { ...agent.config.voice, speculate: false } };
  const { livekit, databaseUrl } = servers;
  const logger = pino({ level: process.env["LOG_LEVEL"] ?? "silent" });
  const sql = connect(databaseUrl, { applicationName: "parley testing" });
  cleanup.defer(() => sql.end({ timeout: 2 }));
  const permissionEvents = openEventHub({
    listenUrl: databaseUrl,
    channel: PERMISSION_CHANNEL,
    loadMarks: loadRequestMarks,
    sql,
    onError: (error) => logger.warn({ error }, "permission response listener failed, retrying"),
  });
  cleanup.defer(() => permissionEvents.close());
  const builtIn = builtInTools(config, { recall: createRecallStore(sql), memories: createMemoryStore(sql) });
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
      await room.connect(livekit.url, await grantToken(livekit, { room: name, identity, kind: "agent" }), NO_TRACKS);
    },
    leave: () => {},
    ...livekit,
  };
  const session = await openJobSession(job, {
    config,
    logger,
    sql,
    permissionEvents,
    serverTools: new Map([...builtIn, ...tools]),
    liveTools: { prefixes: [], onChanged: () => () => {} },
    ...createSessionModel(config, model, agents),
    ...(speech && { speech }),
    watchers: [watch],
  });
  cleanup.defer(() => session.close(0));
  const closing = cleanup.move();
  return { room, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}
