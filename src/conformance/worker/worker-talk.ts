import { Cleanup } from "../../lib/cleanup.ts";
import { createId } from "../../lib/id.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import { anyInput, type GiveAccess, KitClient, withTools } from "./kit-client.ts";

export const NUMBER_INPUT = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;

/** The Configuration of the kit's client in most rooms. */
const OFFERED = withTools(
  { name: "kit_echo", description: "Gives back its input.", inputSchema: anyInput },
  { name: "kit_number", description: "Takes the integer n.", inputSchema: NUMBER_INPUT },
  { name: "kit_late", description: "Never answers in time.", inputSchema: anyInput, timeoutMs: 300 },
);

export interface WorkerTalkOptions {
  readonly give: GiveAccess;
  /** The first Configuration of the kit's client. `null` sends none. @defaultValue every feature and three tools */
  readonly configuration?: MessageBody<"configuration"> | null;
  /** Whether the room's name has the form `conv_ac_X`. @defaultValue true */
  readonly hasNamedRoom?: boolean;
}

/** A room with the worker under test and the kit's clients. */
export class WorkerTalk implements AsyncDisposable {
  readonly roomName: string;
  /** All clients so far, including those that have left. */
  readonly clients: KitClient[] = [];
  readonly #give: GiveAccess;
  readonly #cleanup = new Cleanup();

  private constructor({ give, hasNamedRoom = true }: WorkerTalkOptions) {
    this.#give = give;
    this.roomName = `${hasNamedRoom ? "conv_ac_" : "conformance-"}${createId()}`;
  }

  static async open(options: WorkerTalkOptions): Promise<WorkerTalk> {
    const talk = new WorkerTalk(options);
    const { configuration = OFFERED } = options;
    try {
      const client = await talk.join("alice");
      if (configuration) await client.configure(configuration);
      return talk;
    } catch (error) {
      await talk[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The first client. */
  get client(): KitClient {
    const client = this.clients.at(0);
    if (!client) throw new Error("No client has joined");
    return client;
  }

  async join(identity: string): Promise<KitClient> {
    const client = this.#cleanup.use(await KitClient.join(this.#give, this.roomName, identity));
    this.clients.push(client);
    return client;
  }

  /** Makes the worker's model call a tool of the kit's client. @returns the request */
  async call(toolName: string, parameters: object = {}): Promise<MessageBody<"tool_use_request">> {
    const { client } = this;
    const before = client.all("tool_use_request").length;
    await client.say(`use ${toolName} ${JSON.stringify(parameters)}`);
    const look = () =>
      client
        .all("tool_use_request")
        .slice(before)
        .find((body) => body.toolName === toolName);
    return client.frames.next(look, `a ToolUseRequest for ${toolName}`, 10_000);
  }

  /** Waits until a call has ended. @returns its final state */
  async ended(id: string): Promise<MessageBody<"tool_call_state">> {
    const isEnd = (state: MessageBody<"tool_call_state">) =>
      state.id === id && state.status !== "pending" && state.status !== "running";
    return this.client.next("tool_call_state", isEnd);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}
