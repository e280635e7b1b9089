import { type Call } from "../../conversation/call.ts";
import { type TurnRecord } from "../../conversation/turn-record.ts";
import { abortable } from "../../lib/abortable.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";
import { type MessageBody, workerFeatures } from "../../protocol/messages/messages.ts";
import { findTool, routeCall } from "../../tool/tool-routing.ts";
import { type LiveTools, type ServerTool } from "../../tool/server-tool.ts";
import { type Announcement, compileAnnouncement } from "./announced-tools.ts";
import { catchUp, type AnsweredTurn } from "../answer/catch-up.ts";
import { type Outbox } from "../wire/outbox.ts";
import { type Peer } from "./peer.ts";
import { type Peers } from "./peers.ts";
import { type UnfinishedTurn } from "../turns/turn-queue.ts";
import { waitForMcpTools } from "./wait-for-mcp-tools.ts";

const ANNOUNCE_AGAIN_MS = 1_000;
const READ_WITHIN_MS = 250;
const UNCHANGING: LiveTools = { prefixes: [], onChanged: () => () => {} };

interface ConfigurationsOptions {
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** @defaultValue they stay as they are */
  readonly liveTools?: LiveTools | undefined;
  readonly outbox: Outbox;
  readonly peers: Pick<Peers, "clients" | "hosts">;
}

/** What the worker and its clients tell each other of themselves. */
export class Configurations {
  readonly #serverTools: ReadonlyMap<string, ServerTool>;
  readonly #liveTools: LiveTools;
  readonly #outbox: Outbox;
  readonly #peers: ConfigurationsOptions["peers"];
  readonly #closing = new AbortController();
  readonly #unread = new Set<Peer>();
  readonly #awaited = new Set<(from: Peer) => void>();

  constructor({ serverTools, liveTools = UNCHANGING, outbox, peers }: ConfigurationsOptions) {
    this.#serverTools = serverTools;
    this.#liveTools = liveTools;
    this.#outbox = outbox;
    this.#peers = peers;
  }

  /**
   * Tells the clients that are present whenever the worker's tools are others. The returned function ends all waiting.
   */
  follow(): () => void {
    const unfollow = this.#liveTools.onChanged(() => {
      for (const client of this.#peers.clients()) this.send(client);
    });
    return () => {
      unfollow();
      this.#closing.abort();
    };
  }

  send({ identity }: Pick<Peer, "identity">): void {
    const ownTools = [...this.#serverTools.values()].filter((tool) => tool.execution !== "client");
    const tools = ownTools.map(({ name, description }) => ({ name, description, inputSchema: { type: "object" } }));
    this.#outbox.post({ type: "configuration", body: { features: workerFeatures(), tools } }, { to: [identity] });
  }

  /** Notes what a client says of itself, sends it what it has missed of `past`, and answers. */
  take(from: Peer, body: MessageBody<"configuration">, past: readonly AnsweredTurn[]): void {
    if (body.features) from.features = new Set(body.features);
    if (body.preferredLanguage !== undefined) from.language = body.preferredLanguage;
    if (body.tools) {
      from.budget.charge(body.tools.length);
      from.announce(() => this.#readTools(from, body));
      this.#readSoon(from);
    }
    const { lastSequenceSeen } = body;
    if (lastSequenceSeen !== undefined) catchUp(from.identity, lastSequenceSeen, { outbox: this.#outbox, past });
    this.send(from);
    for (const onTaken of this.#awaited) onTaken(from);
  }

  /** Who announced a bad tool hears of it, also when nobody asks for the list. */
  #readSoon(from: Peer): void {
    if (this.#unread.has(from)) return;
    this.#unread.add(from);
    const read = () => {
      this.#unread.delete(from);
      if (!this.#closing.signal.aborted) from.readAnnouncement();
    };
    setTimeout(read, READ_WITHIN_MS).unref();
  }

  #readTools({ identity }: Peer, body: MessageBody<"configuration">): Announcement["tools"] {
    const { tools, errors } = compileAnnouncement(body, { identity, reserved: this.#liveTools.prefixes });
    for (const error of errors) this.#outbox.postError(error, identity);
    return tools;
  }

  /**
   * A new worker does not know yet whose tools there are: the client whose turn goes on, the owners of tools that its
   * calls wait for permission to use, and the MCP servers that it needs, get a moment to name them again. Never
   * rejects.
   */
  async untilAnnounced({ turn, calls }: UnfinishedTurn, signal: AbortSignal): Promise<void> {
    const { blocks, participantIdentity } = turn;
    const isOfTurn = ({ identity }: Peer) => identity === participantIdentity;
    const moment = AbortSignal.any([signal, AbortSignal.timeout(ANNOUNCE_AGAIN_MS)]);
    const known = calls.map((call) => this.#untilKnown(call, moment));
    await Promise.all([this.#untilTaken(isOfTurn, moment), this.#untilMcpToolsListed(blocks, signal), ...known]);
  }

  /**
   * Goes on with a call that an earlier worker left, once its tool is known. What waits at the end is left as it is,
   * for the next worker.
   */
  async whenKnown(call: Call, goOn: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    await this.#untilKnown(call, AbortSignal.any([signal, AbortSignal.timeout(TOOL_TIMES.returnMs)]));
    if (!signal.aborted) await goOn();
  }

  /**
   * A call that was not started, for it waits for permission, may be of a tool that its owner has yet to name again.
   */
  async #untilKnown(call: Call, signal: AbortSignal): Promise<void> {
    const { participant, toolName, state, permissionAsked = false } = call;
    if (!permissionAsked || state !== "pending") return;
    if (this.#liveTools.prefixes.some((prefix) => toolName.startsWith(prefix))) {
      const use = { sequence: 0, blockType: "tool_use", textContent: null, content: { tool_name: toolName } };
      return this.#untilMcpToolsListed([use], signal);
    }
    const isKnown = () => {
      const hosts = this.#peers.hosts(participant);
      const tool = findTool(toolName, this.#serverTools, hosts);
      return tool !== undefined && routeCall(tool, hosts).to !== "nobody";
    };
    if (isKnown()) return;
    await this.#untilTaken(isKnown, signal);
  }

  async #untilMcpToolsListed(blocks: TurnRecord["blocks"], signal: AbortSignal): Promise<void> {
    await waitForMcpTools(blocks, { ...this.#liveTools, serverTools: this.#serverTools }, signal);
  }

  /** Resolves when a Configuration has been taken with which that is so, or on the signal. */
  async #untilTaken(isSo: (from: Peer) => boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onTaken = (from: Peer) => isSo(from) && resolve();
    this.#awaited.add(onTaken);
    await abortable(promise, signal).catch(() => {});
    this.#awaited.delete(onTaken);
  }
}
