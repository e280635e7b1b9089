import type { Call, CancelReason, Execution, Outcome } from "../../conversation/call.ts";
import { AppError } from "../../errors/app-error.ts";
import { cleanText } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import { toToolName } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { CallClients, CallRecord } from "../../tool/calls/call-ports.ts";
import type { CallLedger } from "../../tool/calls/call-ledger.ts";
import { cancelCall, refuseOpenCall, type EndPorts } from "../../tool/calls/end-call.ts";
import { failure } from "../../tool/outcome.ts";
import type { TurnDevice } from "../../tool/tool-routing.ts";
import { readFailed, readParts, type ReadResult } from "../../tool/results/read-result.ts";
import { type Destination, type Outbox, StreamedRequests } from "../wire/outbox.ts";
import type { AnsweredRequest } from "../inbox/admission.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { Participants } from "../participants/participants.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";

/** How long a closing session waits for replies to its cancels. Clients reply at once or never. */
const CANCEL_ANSWER_MS = 500;

interface CallWireOptions {
  readonly ledger: CallLedger;
  readonly outbox: Outbox;
  readonly participants: Participants;
  readonly telemetry: Pick<SessionTelemetry, "traceOfCall" | "recordAnswer">;
  readonly storeMedia: CallRecord["storeMedia"];
}

/**
 * Tool calls on the wire: sends requests, results and cancels; receives results, claims and errors (docs/protocol.md).
 */
export class CallWire implements CallClients {
  readonly ledger: CallLedger;
  /** What `cancelCall` and `refuseOpenCall` need to end a call. */
  readonly #ends: EndPorts;
  readonly #outbox: Outbox;
  readonly #participants: Participants;
  readonly #telemetry: CallWireOptions["telemetry"];
  readonly #storeMedia: CallRecord["storeMedia"];
  /** Ids of `either` calls, by the stanza of their request. A client claims a call by acknowledging that stanza. */
  readonly #callOfStanza = new Map<number, string>();
  readonly #streamed = new StreamedRequests();
  /** The participants that have not replied to a closing session's cancel yet, by call id. */
  readonly #unconfirmed = new Map<string, string>();
  #onAllConfirmed = () => {};

  constructor({ ledger, outbox, participants, telemetry, storeMedia }: CallWireOptions) {
    this.ledger = ledger;
    this.#ends = { ledger, clients: this };
    this.#outbox = outbox;
    this.#telemetry = telemetry;
    this.#participants = participants;
    this.#storeMedia = storeMedia;
  }

  hosts(participant: string): readonly TurnDevice[] {
    return this.#participants.hosts(participant);
  }

  isPresent(identity: string): boolean {
    return this.#participants.isPresent(identity);
  }

  /**
   * Sends a call's request. If the arguments are too large for an envelope, the call fails with `invalid_parameters`,
   * so that the model can try other arguments.
   *
   * @throws if the request cannot be encoded or sent in time
   */
  async sendRequest(call: Call): Promise<void> {
    try {
      await this.#sendRequest(call);
    } catch (error) {
      const open = this.ledger.find(call.id);
      if (error instanceof AppError && error.code === "too_large" && open?.current.addressee !== undefined)
        refuseOpenCall(open, this.#ends, ["invalid_parameters", `Invalid parameters: ${error.message}`]);
      throw error;
    }
  }

  async #sendRequest(call: Call): Promise<void> {
    const { id, messageId, toolName, input, editedInput, timeoutMs, executionResolved, participant, outcome } = call;
    // Nobody runs an ended call. Its request is sent to everyone for display, as for a call that the server runs.
    const execution: Execution = outcome ? "server" : (executionResolved ?? "either");
    const addressee = outcome ? undefined : call.addressee;
    const asker = addressee === undefined || addressee === participant ? {} : { participant };
    const parameters = { ...(editedInput ?? input) };
    const body = { id, messageId, toolName: toToolName(toolName), parameters, execution, timeoutMs, ...asker };
    const meta = this.#telemetry.traceOfCall(id);
    const destination = addressee === undefined ? { meta } : { meta, to: [addressee] };
    const { stanzaId, sent, isStream } = this.#postRequest(body, destination);
    if (isStream) this.#streamed.follow(id, sent);
    if (execution === "either") this.#callOfStanza.set(Math.abs(stanzaId), id);
    await sent;
  }

  /** Sends a request. If it is only for display, arguments that are too large for an envelope are omitted. */
  #postRequest(body: MessageBody<"tool_use_request">, destination: Destination): ReturnType<Outbox["send"]> {
    try {
      return this.#outbox.send({ type: "tool_use_request", body }, destination);
    } catch (error) {
      if (body.execution !== "server") throw error;
      return this.#outbox.send({ type: "tool_use_request", body: { ...body, parameters: {} } }, destination);
    }
  }

  sendResult({ id, outcome }: Call): void {
    if (!outcome) return;
    const meta = this.#telemetry.traceOfCall(id);
    this.#streamed.after(id, () => this.#postResult(id, outcome, meta));
  }

  #postResult(id: string, outcome: Outcome, meta: JsonObject): void {
    try {
      const body = { id, ...toResultBody(outcome) };
      this.#outbox.send({ type: "tool_use_result", body }, { meta }).sent.catch(() => {});
    } catch {
      // The model receives a truncated result. Clients only learn that the result is too large.
      const result = { value: "[the result is too large to send]" };
      this.#outbox.post({ type: "tool_use_result", body: { id, ...toResultBody(outcome), result } }, { meta });
    }
  }

  /** Sends a ToolUseCancel, if the client supports this message. */
  sendCancel({ id, addressee }: Call, reason: CancelReason): void {
    const knows = addressee !== undefined && this.#participants.get(addressee)?.features.has("tool_use_cancel");
    if (!knows) return;
    if (reason === "closed") this.#unconfirmed.set(id, addressee);
    this.#streamed.after(id, () =>
      this.#outbox.post({ type: "tool_use_cancel", body: { id, reason } }, { to: [addressee] }),
    );
  }

  /**
   * Cancels all open calls, except those that wait for permission to start: the next worker continues to wait for them.
   * Resolves once the clients have replied, or after `CANCEL_ANSWER_MS`. A cancel that is still in transit when the
   * worker leaves the room is lost, and its tool keeps running.
   */
  async cancelAll(): Promise<void> {
    const open = this.ledger.openCalls();
    for (const call of open)
      if (!call.isWaiting || call.current.state !== "pending") cancelCall(call, "closed", this.#ends);
    if (this.#unconfirmed.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onAllConfirmed = resolve;
    const timer = setTimeout(resolve, CANCEL_ANSWER_MS);
    await promise;
    clearTimeout(timer);
  }

  handleResult(from: ParticipantState, body: MessageBody<"tool_use_result">, meta: JsonObject): void {
    const { ledger } = this;
    this.#telemetry.recordAnswer(body.id, from.identity, meta);
    const { outcome, media } = readResult(body);
    const call = ledger.find(body.id)?.current;
    const isShared = call?.executionAsked === "either";
    const isRefused = outcome.state === "error" && outcome.errorCode === "unknown_tool";
    if (isShared && isRefused && ledger.signal(body.id, from.identity, outcome)) return;
    if (call?.addressee === from.identity) this.#storeMedia(call, media);
    ledger.answer(body.id, outcome, from.identity);
    this.#confirm(body.id, from);
  }

  handleUnreadableResult(from: ParticipantState, callId: string, error: AppError): void {
    const code = error.code === "too_large" ? "result_too_large" : "protocol_error";
    this.ledger.answer(callId, failure(code, error.message), from.identity);
  }

  handleAcknowledgement(from: ParticipantState, body: MessageBody<"acknowledgement">): void {
    const callId = this.#callOfStanza.get(Math.abs(body.acknowledgedStanzaId));
    if (callId !== undefined) this.ledger.signal(callId, from.identity, body.success ? "claimed" : "declined");
  }

  /** Ends the open call that an ErrorMessage is about. Any other ErrorMessage is ignored. */
  handleError(from: ParticipantState, { originatingId, message }: MessageBody<"error_message">): void {
    if (originatingId === undefined || !this.ledger.find(originatingId)) return;
    const reported = failure("protocol_error", message || "The client reported an error");
    this.ledger.answer(originatingId, reported, from.identity);
  }

  handleProgress(from: ParticipantState, { id, ...said }: MessageBody<"tool_use_progress">): void {
    if (this.ledger.find(id)?.current.addressee === from.identity) this.ledger.report(id, said);
  }

  /** Whether this participant was sent a call that is still open. */
  isAnyAwaited(from: string): boolean {
    return this.ledger.openCalls().some(({ current }) => current.addressee === from);
  }

  /** Whether this participant was asked for this answer, and the call is still open. */
  isAwaited(from: string, answer: AnsweredRequest): boolean {
    if (answer.kind === "permission") return false;
    const callId = answer.kind === "claim" ? this.#callOfStanza.get(answer.stanzaId) : answer.callId;
    return callId !== undefined && this.ledger.find(callId)?.current.addressee === from;
  }

  #confirm(callId: string, from: ParticipantState): void {
    if (this.#unconfirmed.get(callId) !== from.identity) return;
    this.#unconfirmed.delete(callId);
    if (this.#unconfirmed.size === 0) this.#onAllConfirmed();
  }

  forget({ id }: Call): void {
    for (const [stanzaId, callId] of this.#callOfStanza) if (callId === id) this.#callOfStanza.delete(stanzaId);
  }
}

function readResult({ success: isSuccess, ...body }: MessageBody<"tool_use_result">): ReadResult {
  if (isSuccess) return readParts(body);
  const { result, errorCode, errorMessage } = body;
  const message = errorMessage || errorCode || "The tool failed without a message";
  return { outcome: readFailed(failure(errorCode || "execution_error", cleanText(message)), result), media: [] };
}

function toResultBody(outcome: Outcome): Omit<MessageBody<"tool_use_result">, "id"> {
  if (outcome.state === "success") {
    const { result, display } = outcome;
    return { success: true, result: { ...result }, ...(display && { display: { ...display } }) };
  }
  const { errorCode, errorMessage, result } = outcome;
  return { success: false, errorCode, errorMessage, ...(result && { result: { ...result } }) };
}
