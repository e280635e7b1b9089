import { pino } from "pino";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { CallEnd } from "../../session/agent/call-end.ts";
import { ofAgent } from "../../session/agent/of-agent.ts";
import { SessionAgents } from "../../session/agent/session-agents.ts";
import { Session } from "../../session/session.ts";
import { Outbox, StanzaCounter } from "../../session/wire/outbox.ts";
import { createSessionModel } from "../../worker/job/session-model.ts";
import { toPolicy } from "../../worker/job/to-policy.ts";
import { MemoryPermissions } from "../memory/memory-permissions.ts";
import { MemoryRecorder } from "../memory/memory-recorder.ts";
import { MemoryRoom } from "./memory-room.ts";
import type { Stage, StageOptions } from "./stage.ts";

/** Opens a real session with its room and its record in memory. Tools and wire are real, too. */
export async function openMemoryStage({ agent, model, identity, watch }: StageOptions): Promise<Stage> {
  const room = new MemoryRoom(identity, (input) => session.handle(input));
  const recorder = new MemoryRecorder();
  let reserved = 1;
  const stanzas = await StanzaCounter.open((count) => Promise.resolve((reserved += count) - count));
  const outbox = new Outbox({
    conversationId: conversationIdOfRoom(room.name),
    stanzas,
    sentBefore: 0,
    publish: (bytes, to) => room.publish(bytes, to),
    onFailed: () => {},
  });
  const logger = pino({ level: process.env["LOG_LEVEL"] ?? "silent" });
  const { agents: all, standardAgent: standard, notesModel } = createSessionModel(agent.config, model, agent.agents);
  const someone = { identity, name: "", attributes: {}, isPhone: false };
  const lookAt = () => ({ name: room.name, metadata: "", participants: room.isPresent ? [someone] : [] });
  const agents = new SessionAgents({ agents: all, standard, dispatch: "", dispatchedTo: agent.name, lookAt, logger });
  agents.noteConnected();
  const { openStream, countTokens } = agents;
  const line = {
    hangUp: async () => room.leave(),
    transfer: async () => Promise.reject(new Error("There is no telephone here")),
    press: async () => {},
    isOnPhone: () => false,
  };
  const callEnd = new CallEnd(line, logger);
  const { policy, serverTools, liveTools } = ofAgent(
    { policy: toPolicy(agent.config), serverTools: agent.tools, agents },
    {
      line,
      callEnd,
      setLanguage: async (who, language) => session.setLanguage(who, language),
      keepAgent: async () => {},
      forget: (summary) => session.forget(summary),
    },
  );
  const session = new Session({
    sessionId: "test",
    room: room.name,
    policy,
    serverTools,
    liveTools,
    callEnd,
    agents,
    openStream,
    countTokens,
    notesModel,
    outbox,
    recorder: recorder.asRecorder,
    permissionStore: new MemoryPermissions("test"),
    link: { openTranscription: async () => ({ write: async () => {}, close: async () => {} }) },
    restored: { window: { turns: [], context: undefined }, lastPosition: 0, messageIds: [] },
    archive: recorder.archive,
    watchers: [watch],
    logger,
  });
  return {
    transport: room.enter(),
    isPresent: () => room.isPresent,
    leave: async () => room.leave(),
    comeBack: async () => room.enter(),
    close: () => session.close(0),
  };
}
