import {
  type Attachment,
  type ClientTool,
  connect,
  type LiveKitRoom,
  type MessageBody,
  type Parley,
  type ParleyOptions,
  type SendTextOptions,
} from "@parley/client";
import { PermissionList } from "./permission-list.ts";
import { TalkLog } from "./talk-log.ts";
import { ToolViews } from "./tool-views.ts";
import { ObservableStore } from "./observable-store.ts";

const FEATURES = ["blocks", "tool_call_state", "permissions"];

type Room = Parameters<typeof connect>[0];

/** What the worker has announced: its voice, its agent and its tools. */
type Announced = Pick<MessageBody<"configuration">, "listens" | "speaks" | "turns" | "agent" | "tools">;
type AnyTool = ClientTool<never>;

/**
 * The client of one component tree, with everything that it has received. React may end an effect and immediately start
 * it again (StrictMode). Therefore, closing only takes effect in a later task, and is undone if the client is opened
 * again before then.
 */
export class TalkClient extends ObservableStore {
  readonly log = new TalkLog();
  readonly permissions = new PermissionList();
  readonly views = new ToolViews();
  /** The offered tools. A registered tool maps to the function that withdraws it, any other tool to `undefined`. */
  readonly #tools = new Map<AnyTool, (() => void) | undefined>();
  /** Why a tool could not be registered, by tool. */
  readonly #toolProblems = new Map<AnyTool, string>();
  #parley: Parley | undefined;
  #room: Room | undefined;
  #isKnown = false;
  #worker: Announced = {};
  #listens: boolean;
  #problem: string | undefined;
  #closing: ReturnType<typeof setTimeout> | undefined;
  #closed: Promise<void> = Promise.resolve();
  #offs: readonly (() => void)[] = [];

  /** @param listens whether the page plays the agent's audio, until `listen` is called */
  constructor(listens = true) {
    super();
    this.#listens = listens;
  }

  get parley(): Parley | undefined {
    return this.#parley;
  }

  get room(): Room | undefined {
    return this.#room;
  }

  /** Whether a worker has acknowledged this client. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** What the worker has announced. Empty until then. */
  get worker(): Announced {
    return this.#worker;
  }

  /** Tells the worker whether this page plays the agent's audio. */
  listen(listens: boolean): void {
    if (listens === this.#listens) return;
    this.#listens = listens;
    this.#parley?.listen(listens);
  }

  /** The worker's last error that was not about a message, such as an exceeded budget, or why a tool is not offered. */
  get problem(): string | undefined {
    return this.#problem ?? this.#toolProblems.values().next().value;
  }

  /**
   * Opens the client in a room, or continues with a new object for the same room. Returns a function that closes the
   * client.
   */
  open(room: Room, options: ParleyOptions): () => void {
    clearTimeout(this.#closing);
    const isOther = this.#room !== room;
    this.#room = room;
    if (this.#parley && isOther) {
      // A client that is not in the room is not notified when requests are answered.
      this.permissions.clear();
      this.#parley.rejoin(room);
    } else if (isOther) {
      const connecting = this.#closed.then(() => this.#connect(room, options));
      connecting.catch((error: unknown) => {
        this.#problem = error instanceof Error ? error.message : String(error);
        this.changed();
      });
    }
    this.changed();
    return () => {
      this.#closing = setTimeout(() => this.#close(), 0);
    };
  }

  /**
   * Offers a tool to the model while a client exists. Returns a function that withdraws the tool. An invalid tool is
   * reported as a `problem`.
   */
  offer<Input>(tool: ClientTool<Input>): () => void {
    const any = tool as unknown as AnyTool;
    this.#tools.set(any, undefined);
    if (this.#parley) this.#register(any, this.#parley);
    return () => {
      this.#tools.get(any)?.();
      this.#tools.delete(any);
      if (this.#toolProblems.delete(any)) this.changed();
    };
  }

  /** Registers a tool. Does not throw, so that one invalid tool does not affect the other tools or the conversation. */
  #register(tool: AnyTool, parley: Parley): void {
    try {
      this.#tools.set(tool, parley.registerTool(tool));
    } catch (error) {
      const why = `Tool "${tool.name}" is not offered: ${error instanceof Error ? error.message : String(error)}`;
      this.#toolProblems.set(tool, why);
      this.changed();
      // Not every runtime has `reportError`.
      (globalThis as Partial<typeof globalThis>).reportError?.(new Error(why, { cause: error }));
    }
  }

  send(text: string, options: SendTextOptions = {}): string {
    const { messageId, acknowledged } = this.opened().sendText(text, options);
    this.log.addSent(messageId, { text, attachments: (options.attachments ?? []).map(nameOf) }, acknowledged);
    return messageId;
  }

  /**
   * Requests a new answer to a user's message, with new text if given. If the request fails, the message also shows the
   * error.
   */
  async vary(targetId: string, newContent?: string): Promise<void> {
    if (newContent !== undefined) this.log.edit(targetId, newContent);
    const mode = newContent === undefined ? "regenerate" : "edit";
    try {
      await this.opened().vary({ targetId, mode, ...(newContent !== undefined && { newContent }) });
    } catch (error) {
      this.log.fail(targetId, error);
      throw error;
    }
  }

  async cancelCall(callId: string): Promise<void> {
    await this.opened().cancelCall(callId);
  }

  /** Returns the SDK's client. @throws if there is no client yet */
  opened(): Parley {
    if (!this.#parley) throw new Error("Not connected: is ParleyProvider mounted, and does it have a room?");
    return this.#parley;
  }

  async #connect(room: Room, options: ParleyOptions): Promise<void> {
    if (this.#room !== room || this.#parley) return;
    const features = [...FEATURES, ...(options.features ?? [])];
    const parley = await connect(room, { ...options, features, listens: this.#listens, waitForAgentMs: 0 });
    if (this.#room !== room) return parley.close();
    this.#parley = parley;
    for (const tool of this.#tools.keys()) this.#register(tool, parley);
    this.#isKnown = parley.isConnected;
    this.#offs = [
      this.log.follow(parley),
      this.permissions.follow(parley),
      parley.on("connected", () => this.#setKnown(true)),
      parley.on("disconnected", () => this.#setKnown(false)),
      parley.on("configuration", (worker) => {
        this.#worker = worker;
        this.changed();
      }),
      parley.on("error", ({ originatingId, message }) => {
        if (originatingId !== undefined) return;
        this.#problem = message;
        this.changed();
      }),
    ];
    this.changed();
  }

  #setKnown(isKnown: boolean): void {
    this.#isKnown = isKnown;
    if (isKnown) this.#problem = undefined;
    this.changed();
  }

  #close(): void {
    const parley = this.#parley;
    for (const off of this.#offs) off();
    this.#offs = [];
    this.#parley = undefined;
    this.#room = undefined;
    this.#worker = {};
    for (const tool of this.#tools.keys()) this.#tools.set(tool, undefined);
    this.#toolProblems.clear();
    this.#closed = this.#closed.then(() => parley?.close());
    this.#setKnown(false);
  }
}

/** Returns LiveKit's room, or `undefined` if the client uses another transport. */
export function liveKitRoomOf(room: Room | undefined): LiveKitRoom | undefined {
  return room && "remoteParticipants" in room ? room : undefined;
}

function nameOf(attachment: Attachment): string {
  const { name, type, mediaType } = attachment as { name?: string; type?: string; mediaType?: string };
  return name || type || mediaType || "attachment";
}
