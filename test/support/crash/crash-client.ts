import { createId } from "../../../src/lib/id.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { ASK_USER } from "../../../src/protocol/forms/form.ts";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { encodeEnvelope } from "../../../src/protocol/codec/codec.ts";
import { decode, fakeParticipant } from "../doubles/fake-session.ts";
import type { CrashWorld } from "./crash-world.ts";

type ToolList = NonNullable<MessageBody<"configuration">["tools"]>;

/**
 * A participant's device that obeys the protocol while workers come and go: it runs each request id once, returns the
 * stored result when asked again, and introduces itself to each worker.
 */
export class CrashClient {
  readonly identity: string;
  readonly answered = new Set<string>();
  readonly #world: CrashWorld;
  readonly #tools: ToolList | undefined;
  readonly #results = new Map<string, MessageBody<"tool_use_result"> | "running">();
  readonly #refused = new Set<string>();
  readonly #permissions = new Map<string, "once" | "reject" | "none">();
  #stanza = 0;

  constructor(world: CrashWorld, identity: string, tools: ToolList | undefined) {
    this.#world = world;
    this.identity = identity;
    this.#tools = tools;
  }

  get participant() {
    return fakeParticipant(this.identity);
  }

  configure(): void {
    const features = ["claims", "tool_use_cancel", "permissions", "tool_use_progress"] as const;
    this.send({ type: "configuration", body: { features: [...features], ...(this.#tools && { tools: this.#tools }) } });
  }

  /** Repeats the message until it is answered. */
  say(content: string, id = createId()): void {
    if (this.answered.has(id)) return;
    this.send({ type: "user_message", body: { id, content } });
    this.#world.clock.after(2_000, () => this.say(content, id));
  }

  send(message: Message): void {
    const { conversationId } = this.#world;
    const bytes = encodeEnvelope({ stanzaId: ++this.#stanza, conversationId, message });
    this.#world.clock.after(this.#world.random() * 40, () => this.#world.deliver(this, bytes));
  }

  receive(bytes: Uint8Array): void {
    const { stanzaId, message } = decode(bytes);
    if (message.type === "start_answer") {
      this.answered.add(message.body.previousId);
      this.#world.started.set(message.body.id, message.body.previousId);
    }
    if (message.type === "permission_request") this.#decide(message.body);
    if (message.type === "tool_use_request" && message.body.execution !== "server") this.#take(stanzaId, message.body);
  }

  #take(stanzaId: number, { id, execution, toolName, parameters }: MessageBody<"tool_use_request">): void {
    const world = this.#world;
    world.asked.push({ callId: id, identity: this.identity });
    const known = this.#results.get(id);
    if (execution === "either" && !this.#claim(stanzaId, id, known !== undefined)) return;
    if (known === "running") return;
    if (known) return this.send({ type: "tool_use_result", body: known });
    this.#results.set(id, "running");
    const isForm = toolName === ASK_USER;
    if (!isForm) world.note({ callId: id, toolName, by: this.identity, input: parameters });
    world.clock.after(world.random() * 2_500, () => {
      const result = { id, success: true, result: isForm ? this.#fillIn() : { by: this.identity, id } };
      this.#results.set(id, result);
      this.send({ type: "tool_use_result", body: result });
      if (world.random() < 0.2) this.send({ type: "tool_use_result", body: result });
    });
  }

  #claim(stanzaId: number, id: string, isKnown: boolean): boolean {
    const choice = isKnown ? 0 : this.#world.random();
    if (choice > 0.85) return false;
    const success = choice < 0.7 && !this.#refused.has(id);
    if (!success) this.#refused.add(id);
    this.send({ type: "acknowledgement", body: { acknowledgedStanzaId: Math.abs(stanzaId), success } });
    return success;
  }

  #fillIn(): JsonObject {
    const choice = this.#world.random();
    if (choice < 0.7) return { action: "accept", content: { n: Math.floor(choice * 1_000_000) } };
    return { action: choice < 0.85 ? "decline" : "cancel" };
  }

  #decide({ id: permissionId, callId = "" }: MessageBody<"permission_request">): void {
    const world = this.#world;
    const choice = world.random();
    const known = this.#permissions.get(permissionId);
    const response = known ?? (choice < 0.65 ? "once" : choice < 0.9 ? "reject" : "none");
    this.#permissions.set(permissionId, response);
    if (response === "none") return;
    world.clock.after(world.random() * 4_000, () => {
      if (response === "once") world.approved.add(callId);
      if (world.random() < 0.3) void world.replyByHttp(permissionId, this.identity, response);
      else this.send({ type: "permission_response", body: { permissionId, response } });
    });
  }
}
