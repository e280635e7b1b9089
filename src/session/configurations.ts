import { abortable } from "../lib/abortable.ts";
import { type MessageBody } from "../protocol/messages.ts";
import { type ServerTool } from "../tool/server-tool.ts";
import { compileAnnouncement } from "./announced-tools.ts";
import { catchUp, type AnsweredTurn } from "./catch-up.ts";
import { type Outbox } from "./outbox.ts";
import { type Peer } from "./peer.ts";

const ANNOUNCE_AGAIN_MS = 1_000;

/** What the worker and its clients tell each other of themselves. */
export class Configurations {
  readonly #serverTools: ReadonlyMap<string, ServerTool>;
  readonly #outbox: Outbox;
  #onTaken: (from: Peer) => void = () => {};

  constructor({ serverTools, outbox }: { serverTools: ReadonlyMap<string, ServerTool>; outbox: Outbox }) {
    this.#serverTools = serverTools;
    this.#outbox = outbox;
  }

  send({ identity }: Peer): void {
    const ownTools = [...this.#serverTools.values()].filter((tool) => tool.execution !== "client");
    const tools = ownTools.map(({ name, description }) => ({ name, description, inputSchema: { type: "object" } }));
    const features = ["tool_use_cancel", "tool_use_progress"];
    this.#outbox.post({ type: "configuration", body: { features, tools } }, { to: [identity] });
  }

  /** Notes what a client says of itself, sends it what it has missed of `past`, and answers. */
  take(from: Peer, body: MessageBody<"configuration">, past: readonly AnsweredTurn[]): void {
    if (body.features) from.features = new Set(body.features);
    if (body.preferredLanguage !== undefined) from.language = body.preferredLanguage;
    if (body.tools) {
      const { tools, errors } = compileAnnouncement(body);
      from.tools = tools;
      for (const error of errors) this.#outbox.postError(error, from.identity);
    }
    const { lastSequenceSeen } = body;
    if (lastSequenceSeen !== undefined) catchUp(from.identity, lastSequenceSeen, { outbox: this.#outbox, past });
    this.send(from);
    this.#onTaken(from);
  }

  /** A new worker does not know its clients' tools yet: the one whose turn goes on gets a moment to name them again. */
  async untilAnnounced(participant: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onTaken = ({ identity }) => identity === participant && resolve();
    await abortable(promise, AbortSignal.any([signal, AbortSignal.timeout(ANNOUNCE_AGAIN_MS)])).catch(() => {});
    this.#onTaken = () => {};
  }
}
