import { type TurnRecord } from "../conversation/turn-record.ts";
import { abortable } from "../lib/abortable.ts";
import { TOOL_TIMES } from "../protocol/limits.ts";
import { type MessageBody } from "../protocol/messages.ts";
import { type Call } from "../tool/call.ts";
import { type LiveTools } from "../tool/live-tools.ts";
import { type ServerTool } from "../tool/server-tool.ts";
import { compileAnnouncement } from "./announced-tools.ts";
import { catchUp, type AnsweredTurn } from "./catch-up.ts";
import { type Outbox } from "./outbox.ts";
import { type Peer } from "./peer.ts";
import { type Peers } from "./peers.ts";
import { untilListed } from "./until-listed.ts";

const ANNOUNCE_AGAIN_MS = 1_000;
const UNCHANGING: LiveTools = { prefixes: [], onChanged: () => () => {} };

interface ConfigurationsOptions {
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** @defaultValue they stay as they are */
  readonly liveTools?: LiveTools;
  readonly outbox: Outbox;
}

/** What the worker and its clients tell each other of themselves. */
export class Configurations {
  readonly #serverTools: ReadonlyMap<string, ServerTool>;
  readonly #liveTools: LiveTools;
  readonly #outbox: Outbox;
  readonly #closing = new AbortController();
  readonly #awaited = new Set<(from: Peer) => void>();

  constructor({ serverTools, liveTools = UNCHANGING, outbox }: ConfigurationsOptions) {
    this.#serverTools = serverTools;
    this.#liveTools = liveTools;
    this.#outbox = outbox;
  }

  /** Tells the clients that are present whenever the worker's tools are others. The returned function ends all waiting. */
  follow(peers: Pick<Peers, "hosts">): () => void {
    const unfollow = this.#liveTools.onChanged(() => {
      for (const client of peers.hosts("")) this.send(client);
    });
    return () => {
      unfollow();
      this.#closing.abort();
    };
  }

  send({ identity }: Pick<Peer, "identity">): void {
    const ownTools = [...this.#serverTools.values()].filter((tool) => tool.execution !== "client");
    const tools = ownTools.map(({ name, description }) => ({ name, description, inputSchema: { type: "object" } }));
    const features = ["permissions", "tool_use_cancel", "tool_use_progress"];
    this.#outbox.post({ type: "configuration", body: { features, tools } }, { to: [identity] });
  }

  /** Notes what a client says of itself, sends it what it has missed of `past`, and answers. */
  take(from: Peer, body: MessageBody<"configuration">, past: readonly AnsweredTurn[]): void {
    if (body.features) from.features = new Set(body.features);
    if (body.preferredLanguage !== undefined) from.language = body.preferredLanguage;
    if (body.tools) {
      const { tools, errors } = compileAnnouncement(body, this.#liveTools.prefixes);
      from.tools = tools;
      for (const error of errors) this.#outbox.postError(error, from.identity);
    }
    const { lastSequenceSeen } = body;
    if (lastSequenceSeen !== undefined) catchUp(from.identity, lastSequenceSeen, { outbox: this.#outbox, past });
    this.send(from);
    for (const onTaken of this.#awaited) onTaken(from);
  }

  /**
   * A new worker does not know yet whose tools there are: the client whose turn goes on, and the MCP servers that the
   * turn needs, get a moment to name them again. Never rejects.
   */
  async untilAnnounced(
    { blocks, participantIdentity }: Pick<TurnRecord, "blocks" | "participantIdentity">,
    signal: AbortSignal,
    limitMs = ANNOUNCE_AGAIN_MS,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onTaken = ({ identity }: Peer) => identity === participantIdentity && resolve();
    this.#awaited.add(onTaken);
    const taken = abortable(promise, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]));
    const listed = untilListed(blocks, { ...this.#liveTools, serverTools: this.#serverTools }, signal);
    await Promise.all([taken.catch(() => {}), listed]);
    this.#awaited.delete(onTaken);
  }

  /**
   * Goes on with a call that an earlier worker left. One that was not started, for it waits for leave, may be of a tool
   * that its client has yet to name again. What waits at the end is left as it is, for the next worker.
   */
  async whenKnown(call: Call, goOn: () => Promise<void>): Promise<void> {
    const { participant, toolName, state, wasAskedFor = false } = call;
    if (wasAskedFor && state === "pending" && !this.#serverTools.has(toolName)) {
      const use = { sequence: 0, blockType: "tool_use", textContent: null, content: { tool_name: toolName } };
      const { signal } = this.#closing;
      await this.untilAnnounced({ blocks: [use], participantIdentity: participant }, signal, TOOL_TIMES.returnMs);
      if (signal.aborted) return;
    }
    await goOn();
  }
}
