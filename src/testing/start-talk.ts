import { AppError } from "../errors/app-error.ts";
import { Cleanup } from "../lib/cleanup.ts";
import { fieldsOf, refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import { startWorkerHooks, stopWorkerHooks } from "../worker/hooks/call-worker-hooks.ts";
import { loadRtcNode } from "../livekit/load-rtc-node.ts";
import { TEST_IDENTITY } from "../scenario/playable.ts";
import { type AgentOptions, loadAgent } from "./load-agent.ts";
import type { TestModel } from "./model/test-model.ts";
import type { RoomServers } from "./stage/room-servers.ts";
import type { Stage, StageOptions } from "./stage/stage.ts";
import { openMemoryStage } from "./stage/memory-stage.ts";
import { Talk, type SessionPorts } from "./talk.ts";
import { TurnLog } from "./turn.ts";

export interface TalkOptions extends AgentOptions {
  readonly model: TestModel;
  /**
   * `true` starts a real livekit-server and a real PostgreSQL for this session. Pass addresses to use servers that
   * already run.
   *
   * @defaultValue none: the room and the store are in memory
   */
  readonly room?: boolean | RoomServers;
  /** Whether both ends speak with espeak-ng and listen to real audio. Needs `room`. @defaultValue false */
  readonly voice?: boolean;
  /** The participant's identity. @defaultValue "tester" */
  readonly identity?: string;
  /** The participant's language (BCP 47). */
  readonly language?: string;
}

const OPTIONS = fieldsOf<TalkOptions>({
  model: true,
  room: true,
  voice: true,
  identity: true,
  language: true,
  config: true,
  agent: true,
  tools: true,
  mocks: true,
});

/**
 * Starts a real session of an agent, with a participant who has joined. `await using` ends the session.
 *
 * @throws {AppError} `invalid_config` if the agent cannot start
 * @throws {TypeError} for an unknown option
 * @example
 * await using talk = await startTalk({ model: scripted(["Hello!"]) });
 * const turn = await talk.say("Hi");
 */
export async function startTalk(options: TalkOptions): Promise<Talk> {
  refuseUnknownFields(options, OPTIONS, "startTalk's options");
  await using cleanup = new Cleanup();
  const { model, identity = TEST_IDENTITY, language } = options;
  const agent = await loadAgent(options);
  await startWorkerHooks();
  cleanup.defer(endWorkerHooks);
  const opened = await model.open();
  cleanup.defer(() => opened.close());
  const changes = new EventTarget();
  const log = new TurnLog(() => changes.dispatchEvent(new Event("change")));
  const stage = await openStage({ agent, model: opened, identity, watch: log.watch }, options);
  cleanup.defer(() => stage.close());
  const ports: SessionPorts = { agent, model: opened, stage, log, changes };
  const talk = await Talk.start(ports, language);
  const closing = cleanup.move();
  talk.closeWith(() => closing.disposeAsync());
  return talk;
}

/** @throws {AppError} if a hook fails, because that should fail the test */
async function endWorkerHooks(): Promise<void> {
  const [failure] = await stopWorkerHooks();
  if (failure) throw failure;
}

async function openStage(
  options: StageOptions,
  { room = false, voice: hasVoice = false, language }: TalkOptions,
): Promise<Stage> {
  if (room === false) {
    if (hasVoice) throw new AppError("invalid_config", "voice: sound needs a room; set room: true as well");
    return openMemoryStage(options);
  }
  // Loaded only when needed. `loadRtcNode` must be the first to load rtc-node, which would otherwise log to stdout.
  await loadRtcNode();
  const { openRoomStage } = await import("./stage/room-stage.ts");
  return openRoomStage({ ...options, servers: room === true ? undefined : room, hasVoice, language });
}
