import { hostname } from "node:os";
import type { Logger } from "pino";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { LiveTools, ServerTool } from "../tool/server-tool.ts";
import { CallEnd, type CallLine } from "./agent/call-end.ts";
import { ofAgent } from "./agent/of-agent.ts";
import type { SessionAgents } from "./agent/session-agents.ts";
import type { NotesModel } from "./context/summariser.ts";
import type { SessionWatcher } from "./events/session-event.ts";
import type { KnownMemories } from "./memory/known-memories.ts";
import { ToldMemories } from "./memory/told-memories.ts";
import type { RoomLink } from "./room/room-link.ts";
import type { VoicePort } from "./room/voice-port.ts";
import type { SessionPolicy } from "./session-policy.ts";
import type { SessionStore } from "./session-store.ts";
import { Session } from "./session.ts";
import { BUDGET_NAMES } from "./spending/budget.ts";
import { Spending } from "./spending/spending.ts";
import { SessionTelemetry } from "./telemetry/session-telemetry.ts";
import type { CountTokens, OpenStream } from "./turns/open-stream.ts";
import { CountedLog } from "./wire/counted-log.ts";
import { Outbox } from "./wire/outbox.ts";

/** Everything that a session is made in: its room, its store, its agents with their model and tools. */
export interface SessionWorld {
  /** The id of the row in `sessions`. */
  readonly sessionId: string;
  readonly conversationId: string;
  readonly room: string;
  /** LiveKit's id of the room, which differs from that of a later room of the same name. @defaultValue unknown */
  readonly roomSid?: string | undefined;
  readonly store: SessionStore;
  readonly policy: SessionPolicy;
  /** May change, and is read anew for every step and call. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** Tells when `serverTools` have changed. @defaultValue they do not change */
  readonly liveTools?: LiveTools | undefined;
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: SessionAgents | undefined;
  readonly openStream: OpenStream;
  /** @defaultValue the API cannot count */
  readonly countTokens?: CountTokens | undefined;
  /** Writes notes on older turns. @defaultValue there are no notes */
  readonly notesModel?: NotesModel | undefined;
  /** @defaultValue nothing is remembered */
  readonly memories?: Pick<KnownMemories, "of" | "read"> | undefined;
  readonly link: Pick<RoomLink, "publish" | "openTranscription">;
  /** @defaultValue nothing is spoken or heard */
  readonly voice?: VoicePort | undefined;
  /** @defaultValue no call can be ended, and no agent has tools for it */
  readonly line?: CallLine | undefined;
  /** Get the session's events. */
  readonly watchers: readonly SessionWatcher[];
  /** @defaultValue the telemetry that this process has registered */
  readonly telemetry?: Telemetry | undefined;
  readonly logger: Logger;
}

export interface AssembledSession {
  readonly session: Session;
  readonly callEnd: CallEnd | undefined;
  /** Ends the session (`Session.close`), and stores what is left. */
  readonly close: (graceMs: number) => Promise<void>;
}

/** The only place where a session is put together. It has taken up what an earlier worker left. */
export function assembleSession(world: SessionWorld): AssembledSession {
  const { sessionId, conversationId, store, agents, link, line, logger, memories } = world;
  const { recorder, archive, restored, stanzas, sentBefore } = store;
  const callEnd = line && new CallEnd(line, logger);
  const { policy, serverTools, liveTools } = ofAgent(world, {
    line,
    callEnd,
    setLanguage: async (identity, language) => {
      await store.keepLanguage(identity, language);
      session.setLanguage(identity, language);
    },
    keepAgent: (agent) => store.keepAgent(agent),
    forget: (summary) => session.forget(summary),
  });
  const unsent = new CountedLog(logger, "a message could not be sent");
  const outbox = new Outbox({
    conversationId,
    stanzas,
    sentBefore,
    publish: (bytes, to) => link.publish(bytes, to),
    onFailed: (type, error) => unsent.note({ type }, error),
  });
  const identity = { conversationId, sessionId, model: policy.model, ownTools: serverTools };
  const telemetry = new SessionTelemetry(world.telemetry, identity, () => recorder.waitingBlocks);
  const { budget = {}, prices = {} } = policy;
  const spending = new Spending({
    store: store.spending,
    sessionId,
    worker: hostname(),
    budget,
    prices,
    onLost: (error) => logger.error({ error }, "spending was not counted"),
    onSpent: (spent) => telemetry.noteSpent(spent),
    onBudget: (scope, event) => {
      logger.warn({ budget: BUDGET_NAMES[scope], event }, "a budget is used up, or nearly");
      telemetry.noteBudget(BUDGET_NAMES[scope], event);
    },
  });
  const session = new Session({
    sessionId,
    room: world.room,
    roomSid: world.roomSid,
    policy,
    serverTools,
    liveTools,
    agents,
    openStream: spending.limited(world.openStream, () => agents?.current.model ?? policy.model),
    countTokens: world.countTokens,
    notesModel: world.notesModel && spending.countedNotes(world.notesModel),
    logger,
    link,
    outbox,
    recorder,
    spending,
    memories: memories && new ToldMemories(memories),
    permissionStore: store.permissions,
    restored,
    archive,
    watchers: [(event) => telemetry.watch(event), ...store.watchers, ...world.watchers],
    telemetry,
    voice: world.voice && telemetry.observeVoice(world.voice),
    callEnd,
    onLanguageDropped: (dropped) => {
      store.keepLanguage(dropped, undefined).catch((error: unknown) => {
        logger.warn({ error }, "a language that holds no more could not be removed");
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
  return { session, callEnd, close };
}
