import type { MessageBody, Parley } from "@parley/client";
import { applyBlock, applyCall, applySentence, applyWhole, type TalkMessage } from "./message.ts";
import { applyCallBlock, applyState, isOpen, type ToolCall } from "./tool-call.ts";
import { ObservableStore } from "./observable-store.ts";

/** A message's place in the conversation. `useMessage` returns its content. */
export interface TalkEntry {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** The identity of the author, if it is another participant. */
  readonly from?: string;
}

/** All messages and calls since this client joined, built from the worker's messages. */
export class TalkLog extends ObservableStore {
  #entries: readonly TalkEntry[] = [];
  #calls: readonly ToolCall[] = [];
  readonly #messages = new Map<string, TalkMessage>();
  readonly #callsByUse = new Map<string, ToolCall>();

  /** The same array object until a message is added or removed. */
  get entries(): readonly TalkEntry[] {
    return this.#entries;
  }

  /** The same array object until a call is added or changed. */
  get calls(): readonly ToolCall[] {
    return this.#calls;
  }

  message(id: string): TalkMessage | undefined {
    return this.#messages.get(id);
  }

  call(toolUseId: string): ToolCall | undefined {
    return this.#callsByUse.get(toolUseId);
  }

  get hasOpenCall(): boolean {
    return this.#calls.some(isOpen);
  }

  /** Subscribes to a client. Returns a function that unsubscribes. */
  follow(parley: Parley): () => void {
    const offs = [
      parley.on("answer_start", (answer) => this.#begin(answer)),
      parley.on("sentence", ({ previousId, text }) => this.#change(previousId, (known) => applySentence(known, text))),
      parley.on("answer_end", ({ id, previousId, text }) => {
        this.#openAnswer(id, previousId);
        this.#change(id, (known) => applyWhole(known, text));
      }),
      parley.on("transcription", (heard) => this.#hear(heard)),
      parley.on("tool_state", (state) => this.#takeState(state)),
      parley.on("error", ({ originatingId = "", message }) =>
        this.#change(originatingId, (known) => ({ ...known, state: "failed", problem: message })),
      ),
      parley.on("message", ({ type, body }) => {
        if (type === "block_event") this.#takeBlock(body);
      }),
    ];
    return () => {
      for (const off of offs) off();
    };
  }

  /** @param said.attachments the attachments' names or media types */
  addSent(id: string, said: { text: string; attachments: readonly string[] }, acknowledged: Promise<void>): void {
    this.#addUser(id, said.text, "sending");
    if (said.attachments.length > 0) this.#change(id, (known) => ({ ...known, attachments: said.attachments }));
    acknowledged.then(
      () => this.#change(id, (known) => (known.state === "sending" ? { ...known, state: "sent" } : known)),
      (error: unknown) => this.fail(id, error),
    );
  }

  /** Marks a user's message as failed, because the worker did not get the message or a request about it. */
  fail(id: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.#change(id, (known) => ({ ...known, state: "failed", problem }));
  }

  /** Replaces the text of a user's message. */
  edit(id: string, text: string): void {
    this.#change(id, (known) => ({ ...known, parts: [asText(text)] }));
  }

  #begin({ id, previousId, replacesId, answerType }: MessageBody<"start_answer">): void {
    const place = this.#entries.findIndex((entry) => entry.id === replacesId);
    if (place >= 0) this.#entries = this.#entries.slice(0, place);
    this.#openAnswer(id, previousId);
    this.#change(previousId, (known) => (known.state === "sending" ? { ...known, state: "sent" } : known));
    this.#change(id, (known) => ({ ...known, isSpoken: answerType?.includes("voice") ?? false }));
  }

  #openAnswer(id: string, replyTo?: string): void {
    this.#addAnswer(id);
    // An answer that refers to itself does not answer any message.
    if (replyTo === undefined || replyTo === id) return;
    this.#change(id, (known) => (known.replyTo === replyTo ? known : { ...known, replyTo }));
  }

  #addAnswer(id: string): void {
    if (this.#messages.has(id)) return;
    this.#add({ id, role: "assistant", at: Date.now(), parts: [], state: "open" });
  }

  #hear({ id, text, final, participant }: MessageBody<"transcription">): void {
    // The worker has dropped what was said.
    if (text === "" && !final) return this.#remove(id);
    if (!this.#messages.has(id)) this.#addUser(id, text, "open", participant);
    this.#change(id, (known) => ({ ...known, parts: [asText(text)], state: final ? "sent" : "open" }));
  }

  #takeBlock(event: MessageBody<"block_event">): void {
    this.#openAnswer(event.turnId);
    this.#change(event.turnId, (known) => applyBlock(known, event));
    // A delta of a call's arguments identifies its block only by `sequence`, so the call is found by its message part.
    const part = this.#messages
      .get(event.turnId)
      ?.parts.find((each) => each.kind === "call" && each.sequence === event.sequence);
    const toolUseId = event.toolUseId ?? (part?.kind === "call" ? part.toolUseId : undefined);
    if (toolUseId !== undefined) this.#putCall(applyCallBlock(this.#callsByUse.get(toolUseId), event));
  }

  #takeState(state: MessageBody<"tool_call_state">): void {
    const call = applyState((toolUseId) => this.#callsByUse.get(toolUseId), state);
    if (!call) return;
    this.#openAnswer(call.messageId);
    this.#change(call.messageId, (known) => applyCall(known, call.toolUseId));
    this.#putCall(call);
  }

  #putCall(given: ToolCall | undefined): void {
    const known = given && this.#callsByUse.get(given.toolUseId);
    if (!given || known === given) return;
    this.#callsByUse.set(given.toolUseId, given);
    this.#calls = known ? this.#calls.map((each) => (each === known ? given : each)) : [...this.#calls, given];
    this.changed();
  }

  /** @param from the identity of the author, if it is another participant */
  #addUser(id: string, text: string, ...[state, from]: ["sending" | "open", from?: string]): void {
    this.#add({ id, role: "user", at: Date.now(), parts: [asText(text)], state, ...(from !== undefined && { from }) });
  }

  #add(message: TalkMessage): void {
    this.#messages.set(message.id, message);
    const { id, role, from } = message;
    this.#entries = [...this.#entries, { id, role, ...(from !== undefined && { from }) }];
    this.changed();
  }

  #remove(id: string): void {
    if (!this.#messages.delete(id)) return;
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
    this.changed();
  }

  #change(id: string, toNext: (known: TalkMessage) => TalkMessage): void {
    const known = this.#messages.get(id);
    const next = known && toNext(known);
    if (!next || next === known) return;
    this.#messages.set(id, next);
    this.changed();
  }
}

const asText = (text: string) => ({ kind: "text", sequence: 0, text, saidTo: text.length }) as const;
