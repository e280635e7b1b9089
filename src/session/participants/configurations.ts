import type { AgentSettings } from "../../agent/agent-fields.ts";
import type { Call } from "../../conversation/call.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import { abortable } from "../../lib/abortable.ts";
import { isLanguageTag } from "../../lib/language-tag.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";
import { type MessageBody, workerFeatures } from "../../protocol/messages/messages.ts";
import { findTool, routeCall } from "../../tool/tool-routing.ts";
import type { LiveTools, ServerTool } from "../../tool/server-tool.ts";
import { type Announcement, compileAnnouncement } from "./announced-tools.ts";
import { catchUp } from "./catch-up.ts";
import type { VoicePort } from "../room/voice-port.ts";
import type { ConversationArchive } from "../record/conversation-archive.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { ParticipantState } from "./participant-state.ts";
import type { Participants } from "./participants.ts";
import { waitForMcpTools } from "./wait-for-mcp-tools.ts";

const ANNOUNCE_AGAIN_MS = 1_000;
const READ_WITHIN_MS = 250;
const TEXT_ONLY = { listens: false, speaks: false, hasManualTurns: false } as const;
const UNCHANGING: LiveTools = { prefixes: [], onChanged: () => () => {} };

/** What people see of an agent. */
interface ShownAgent extends Pick<AgentSettings, "description" | "suggestions"> {
  readonly names: readonly string[];
}

interface ConfigurationsOptions {
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** @defaultValue the worker's tools do not change */
  readonly liveTools?: LiveTools | undefined;
  readonly outbox: Outbox;
  /** @defaultValue the session is text only */
  readonly voice?: Pick<VoicePort, "listens" | "speaks" | "hasManualTurns"> | undefined;
  /** Returns the session's agent. @defaultValue the session has no agent to show */
  readonly agent?: (() => ShownAgent) | undefined;
  readonly participants: Pick<Participants, "clients" | "hosts">;
  readonly archive: Pick<ConversationArchive, "answers">;
  /** Called when the language that `set_language` chose for a participant no longer applies. */
  readonly onLanguageDropped: (identity: string) => void;
}

/** A turn that an earlier worker left running, or whose message it had accepted without beginning the turn. */
interface InheritedTurn extends Pick<TurnRecord, "participantIdentity" | "blocks"> {
  readonly calls: readonly Call[];
}

/** Sends the worker's Configuration and handles those from clients. */
export class Configurations {
  readonly #serverTools: ReadonlyMap<string, ServerTool>;
  readonly #liveTools: LiveTools;
  readonly #outbox: Outbox;
  readonly #voice: Pick<VoicePort, "listens" | "speaks" | "hasManualTurns">;
  readonly #agent: ConfigurationsOptions["agent"];
  readonly #participants: ConfigurationsOptions["participants"];
  readonly #archive: ConfigurationsOptions["archive"];
  readonly #onLanguageDropped: ConfigurationsOptions["onLanguageDropped"];
  readonly #closing = new AbortController();
  /** Aborted when clients have had enough time to announce their tools to a new worker. */
  readonly #announcedAgain = AbortSignal.timeout(ANNOUNCE_AGAIN_MS);
  readonly #unread = new Set<ParticipantState>();
  readonly #awaited = new Set<(from: ParticipantState) => void>();

  constructor(options: ConfigurationsOptions) {
    const { serverTools, liveTools = UNCHANGING, voice = TEXT_ONLY, outbox, participants, archive } = options;
    this.#serverTools = serverTools;
    this.#liveTools = liveTools;
    this.#outbox = outbox;
    this.#agent = options.agent;
    this.#participants = participants;
    this.#archive = archive;
    this.#onLanguageDropped = options.onLanguageDropped;
    this.#voice = voice;
  }

  /** Sends a Configuration whenever the worker's tools change. The returned function stops this and ends all waits. */
  follow(): () => void {
    const unfollow = this.#liveTools.onChanged(() => {
      for (const client of this.#participants.clients()) this.send(client);
    });
    return () => {
      unfollow();
      this.#closing.abort();
    };
  }

  send({ identity }: Pick<ParticipantState, "identity">): void {
    const ownTools = [...this.#serverTools.values()].filter((tool) => tool.execution !== "client");
    const tools = ownTools.map(({ name, description, mcpServer }) => ({
      name,
      description,
      inputSchema: { type: "object" },
      ...(mcpServer !== undefined && { annotations: { mcpServer } }),
    }));
    const { listens, speaks, hasManualTurns } = this.#voice;
    const agent = this.#agent && toShown(this.#agent());
    const body = {
      listens,
      speaks,
      ...(hasManualTurns && { turns: "manual" }),
      ...(agent && { agent }),
      features: workerFeatures(),
      tools,
    };
    this.#outbox.post({ type: "configuration", body }, { to: [identity] });
  }

  /** Handles a client's Configuration: sends the client what it has missed, then the worker's Configuration. */
  take(from: ParticipantState, body: MessageBody<"configuration">): void {
    from.features = new Set(body.features);
    const { preferredLanguage, listens = true } = body;
    from.listens = listens;
    if (isLanguageTag(preferredLanguage) && from.preferLanguage(preferredLanguage))
      this.#onLanguageDropped(from.identity);
    if (body.tools) {
      from.budget.charge(body.tools.length);
      from.announce(() => this.#readTools(from, body));
      this.#readSoon(from);
    } else from.announce(() => undefined);
    const { lastSequenceSeen } = body;
    const catchingUp = lastSequenceSeen === undefined ? undefined : this.#catchUp(from, lastSequenceSeen);
    if (catchingUp) void catchingUp.then(() => this.send(from));
    else this.send(from);
    for (const onConfigured of this.#awaited) onConfigured(from);
  }

  /**
   * Sends missed messages. The first time after each join is not charged to the client's budget, because the client
   * needs its budget for its own messages.
   */
  #catchUp(from: ParticipantState, lastSequenceSeen: number): Promise<void> | undefined {
    const isFree = !from.hasCaughtUp;
    from.hasCaughtUp = true;
    const charge = (cost: number) => {
      if (!isFree) from.budget.charge(cost);
    };
    return catchUp(from.identity, lastSequenceSeen, { outbox: this.#outbox, archive: this.#archive, charge });
  }

  /** Reads a client's tool list soon, even if no call needs it yet, so that the client learns of invalid tools. */
  #readSoon(from: ParticipantState): void {
    if (this.#unread.has(from)) return;
    this.#unread.add(from);
    const read = () => {
      this.#unread.delete(from);
      if (!this.#closing.signal.aborted) from.readAnnouncement();
    };
    setTimeout(read, READ_WITHIN_MS).unref();
  }

  #readTools({ identity }: ParticipantState, body: MessageBody<"configuration">): Announcement["tools"] {
    const { tools, errors } = compileAnnouncement(body, {
      identity,
      reserved: this.#liveTools.prefixes,
      serverTools: this.#serverTools,
    });
    for (const error of errors) this.#outbox.postError(error, identity);
    return tools;
  }

  /**
   * Waits briefly for the tools that an inherited turn needs: the participant's tools, the tools of calls that wait for
   * permission, and the tools of MCP servers that the turn has called. Never rejects.
   */
  async untilAnnounced({ participantIdentity, blocks, calls }: InheritedTurn, signal: AbortSignal): Promise<void> {
    const isOfTurn = ({ identity }: ParticipantState) => identity === participantIdentity;
    const moment = AbortSignal.any([signal, this.#announcedAgain]);
    const known = calls.map((call) => this.#untilKnown(call, moment));
    await Promise.all([this.#untilConfigured(isOfTurn, moment), this.#untilMcpToolsListed(blocks, signal), ...known]);
  }

  /**
   * Runs `resume` for a call that an earlier worker left, once its tool is known or after `TOOL_TIMES.returnMs`. If the
   * session closes first, `resume` is not run, and the call is left to the next worker.
   */
  async whenKnown(call: Call, resume: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    await this.#untilKnown(call, AbortSignal.any([signal, AbortSignal.timeout(TOOL_TIMES.returnMs)]));
    if (!signal.aborted) await resume();
  }

  /** If a call waits for permission to start, waits for its tool, which may not have been announced again yet. */
  async #untilKnown(call: Call, signal: AbortSignal): Promise<void> {
    const { participant, toolName, state, hasStoredPermission } = call;
    if (!hasStoredPermission || state !== "pending") return;
    if (this.#liveTools.prefixes.some((prefix) => toolName.startsWith(prefix))) {
      const use = { sequence: 0, blockType: "tool_use", textContent: null, content: { tool_name: toolName } };
      return this.#untilMcpToolsListed([use], signal);
    }
    const isKnown = () => {
      const hosts = this.#participants.hosts(participant);
      const tool = findTool(toolName, this.#serverTools, hosts);
      return tool !== undefined && routeCall(tool, hosts).to !== "nobody";
    };
    if (isKnown()) return;
    await this.#untilConfigured(isKnown, signal);
  }

  async #untilMcpToolsListed(blocks: TurnRecord["blocks"], signal: AbortSignal): Promise<void> {
    await waitForMcpTools(blocks, { ...this.#liveTools, serverTools: this.#serverTools }, signal);
  }

  /**
   * Waits for a Configuration from a participant that `matches` accepts. Resolves once the Configuration has been
   * handled, or when the signal aborts.
   */
  async #untilConfigured(matches: (from: ParticipantState) => boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onConfigured = (from: ParticipantState) => matches(from) && resolve();
    this.#awaited.add(onConfigured);
    await abortable(promise, signal).catch(() => {});
    this.#awaited.delete(onConfigured);
  }
}

/** Returns what people see of an agent. */
function toShown({ names, description, suggestions }: ShownAgent) {
  return {
    name: names[0] ?? "",
    ...(description !== undefined && { description }),
    ...(suggestions !== undefined && { suggestions }),
  };
}
