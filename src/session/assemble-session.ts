import { hostname } from "node:os";
import type { StateAccess } from "../conversation/state/session-state.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { CallEnd, type CallLine } from "./agent/call-end.ts";
import { followCurrentAgent } from "./agent/follow-current-agent.ts";
import type { MemorySnapshots } from "./memory/memory-snapshots.ts";
import { MemoryPrompt } from "./memory/memory-prompt.ts";
import type { RoomLink } from "./room/room-link.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionPolicy } from "./session-policy.ts";
import type { SessionStore } from "./session-store.ts";
import { Session } from "./session.ts";
import { BUDGET_NAMES } from "./spending/budget.ts";
import { Spending } from "./spending/spending.ts";
import { LiveState } from "./state/live-state.ts";
import { SessionTelemetry } from "./telemetry/session-telemetry.ts";
import { CountedLog } from "./wire/counted-log.ts";
import { Outbox } from "./wire/outbox.ts";

/** Everything a session is assembled from: its room, its store, and its agents with their model and tools. */
export interface SessionWorld extends Pick<
  SessionOptions,
  | "sessionId"
  | "room"
  | "roomSid"
  | "policy"
  | "serverTools"
  | "liveTools"
  | "agents"
  | "openStream"
  | "countTokens"
  | "summaryModel"
  | "voice"
  | "watchers"
  | "logger"
> {
  readonly conversationId: string;
  readonly store: SessionStore;
  /** @defaultValue no memories */
  readonly memories?: Pick<MemorySnapshots, "of" | "read"> | undefined;
  readonly link: Pick<RoomLink, "publish" | "openTranscription">;
  /** @defaultValue the call cannot be ended, and agents have no call tools */
  readonly line?: CallLine | undefined;
  /** @defaultValue the telemetry registered in this process */
  readonly telemetry?: Telemetry | undefined;
}

export interface AssembledSession {
  readonly session: Session;
  readonly callEnd: CallEnd | undefined;
  /**
   * Returns a hook's access to the session's state.
   *
   * @param turnId the turn whose replacement undoes the hook's changes; `null` if none does
   * @param signal the hook's signal. After it is aborted, the state can no longer be changed
   */
  readonly stateOf: (turnId: string | null, signal: AbortSignal) => StateAccess;
  /** Ends the session (`Session.close`) and stores what is pending. */
  readonly close: (graceMs: number) => Promise<void>;
}

/** Assembles a session, and resumes what an earlier worker left unfinished. Sessions are assembled nowhere else. */
export function assembleSession(world: SessionWorld): AssembledSession {
  const { sessionId, conversationId, store, agents, link, line, logger, memories } = world;
  const { recorder, archive, restored } = store;
  const state = new LiveState({ stored: store.state, schema: world.policy.state, logger });
  agents?.readStateFrom(state);
  const callEnd = line && new CallEnd(line, logger);
  const { policy, serverTools, liveTools } = followAgents(world, callEnd, () => session);
  const unsent = new CountedLog(logger, "sending message failed");
  const outbox = createOutbox(world, unsent);
  const identity = { conversationId, sessionId, model: policy.model, ownTools: serverTools };
  const telemetry = new SessionTelemetry(world.telemetry, identity, () => recorder.waitingBlocks);
  const spending = createSpending(world, policy, telemetry);
  const session = new Session({
    sessionId,
    room: world.room,
    roomSid: world.roomSid,
    policy,
    serverTools,
    liveTools,
    agents,
    openStream: world.openStream,
    countTokens: world.countTokens,
    summaryModel: world.summaryModel && spending.countedSummaries(world.summaryModel),
    logger,
    link,
    outbox,
    recorder,
    spending,
    memories: memories && new MemoryPrompt(memories),
    permissionStore: store.permissions,
    restored,
    archive,
    state,
    watchers: [(event) => telemetry.watch(event), ...store.watchers, ...world.watchers],
    telemetry,
    voice: world.voice && telemetry.observeVoice(world.voice),
    callEnd,
    onLanguageDropped: (dropped) => {
      store.storeLanguage(dropped, undefined).catch((error: unknown) => {
        logger.warn({ error }, "could not clear the participant's language");
      });
    },
  });
  for (const [participant, language] of store.languages) session.setLanguage(participant, language);
  session.resume(restored);
  const close = async (graceMs: number) => {
    await session.close(graceMs);
    unsent.close();
    await spending.close();
    await store.close();
  };
  const stateOf: AssembledSession["stateOf"] = (turnId, signal) =>
    state.accessOfHook({ turnId, signal, store: (change) => recorder.storeStateChange(change) });
  return { session, callEnd, stateOf, close };
}

/**
 * Calls `followCurrentAgent`, and stores which agents serve the session. The function `session` is called only after
 * the session has been assembled.
 */
function followAgents(world: SessionWorld, callEnd: CallEnd | undefined, session: () => Session) {
  const { store, agents, line, logger } = world;
  const followed = followCurrentAgent(world, {
    line,
    callEnd,
    setLanguage: async (identity, language) => {
      await store.storeLanguage(identity, language);
      session().setLanguage(identity, language);
    },
    storeAgent: (agent) => store.storeAgent(agent),
    replaceWithSummary: (summary) => session().replaceWithSummary(summary),
  });
  void agents?.first
    .then((served) => store.storeFirstAgent(served))
    .catch((error: unknown) => logger.warn({ error }, "storing the session's agent failed"));
  return followed;
}

function createOutbox({ conversationId, store, link }: SessionWorld, unsent: CountedLog): Outbox {
  const { stanzas, sentBefore } = store;
  return new Outbox({
    conversationId,
    stanzas,
    sentBefore,
    publish: (bytes, to) => link.publish(bytes, to),
    onFailed: (type, error) => unsent.note({ type }, error),
  });
}

function createSpending(world: SessionWorld, policy: SessionPolicy, telemetry: SessionTelemetry): Spending {
  const { logger } = world;
  const { budget = {}, prices = {} } = policy;
  return new Spending({
    store: world.store.spending,
    sessionId: world.sessionId,
    worker: hostname(),
    budget,
    prices,
    onLost: (error) => logger.error({ error }, "could not store spending, amount lost"),
    onSpent: (spent) => telemetry.recordSpent(spent),
    onBudget: (scope, event) => {
      logger.warn({ budget: BUDGET_NAMES[scope], event }, "budget threshold reached");
      telemetry.recordBudget(BUDGET_NAMES[scope], event);
    },
  });
}
