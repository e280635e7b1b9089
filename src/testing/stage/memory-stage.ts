import { pino } from "pino";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { SessionAgents } from "../../session/agent/session-agents.ts";
import { assembleSession } from "../../session/assemble-session.ts";
import { MemorySnapshots } from "../../session/memory/memory-snapshots.ts";
import { builtInTools } from "../../worker/job/built-in-tools.ts";
import { createSessionModel } from "../../worker/job/session-model.ts";
import { toPolicy } from "../../worker/job/to-policy.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import { MemoryRoom } from "./memory-room.ts";
import type { Stage, StageOptions } from "./stage.ts";

const SESSION = "test";

/** Opens a real session whose room and store are in memory. The tools and the protocol are real. */
export async function openMemoryStage({ agent, model, identity, watch }: StageOptions): Promise<Stage> {
  const room = new MemoryRoom(identity, (input) => {
    if (input.type === "joined") memories?.handleJoined(input.participant.identity);
    session.handle(input);
  });
  const { config } = agent;
  const store = new MemoryStore(SESSION);
  const logger = pino({ level: process.env["LOG_LEVEL"] ?? "silent" });
  const memories = config.memory ? new MemorySnapshots(store.memories, () => {}) : undefined;
  const { agents: all, defaultAgent, summaryModel } = createSessionModel(config, model, agent.agents);
  const someone = { identity, name: "", attributes: {}, isPhone: false };
  const readRoom = () => ({ name: room.name, metadata: "", participants: room.isPresent ? [someone] : [] });
  const agents = new SessionAgents({
    agents: all,
    defaultAgent,
    dispatch: "",
    dispatchedTo: agent.name,
    readRoom,
    memories,
    logger,
  });
  agents.handleConnected();
  const { openStream, countTokens } = agents;
  const { session, close } = assembleSession({
    sessionId: SESSION,
    conversationId: conversationIdOfRoom(room.name),
    room: room.name,
    store,
    policy: toPolicy(config),
    serverTools: new Map([...builtInTools(config, store), ...agent.tools]),
    agents,
    openStream,
    countTokens,
    summaryModel,
    memories,
    link: {
      publish: (bytes, to) => room.publish(bytes, to),
      openTranscription: async () => ({ write: async () => {}, close: async () => {} }),
    },
    line: {
      hangUp: async () => room.leave(),
      transfer: async () => Promise.reject(new Error("A call cannot be transferred in a test without a room")),
      press: async () => {},
      isOnPhone: () => false,
    },
    watchers: [watch],
    logger,
  });
  return {
    transport: room.enter(),
    isPresent: () => room.isPresent,
    leave: async () => room.leave(),
    comeBack: async () => room.enter(),
    close: () => close(0),
  };
}
