import type { Logger } from "pino";
import { AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import { isRecord } from "../../lib/json.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import { decodeEnvelope } from "../../protocol/codec/decode-envelope.ts";
import { peekEnvelope, peekType } from "../../protocol/codec/peek.ts";
import { MESSAGES } from "../../protocol/messages/messages.ts";
import { type PhraseTable, phrasesFor } from "../answer/phrases.ts";
import { TranscriptionStream } from "../answer/transcription-stream.ts";
import { MessageBudget, messageCost, type InputKind } from "../participants/message-budget.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { RoomLink } from "../room/room-link.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import { CountedLog } from "../wire/counted-log.ts";
import type { Outbox } from "../wire/outbox.ts";

/** How many first answers are remembered, so that repeated answers are charged to their sender's budget. */
const REMEMBERED_ANSWERS = 1_000;

/** A part of the session that asks participants for something. */
interface AnswerAwaiter {
  /** Whether this participant was asked for this answer, and the call or request is still open. */
  readonly isAwaited: (from: string, answer: AnsweredRequest) => boolean;
  /** Whether any answer from this participant is awaited. */
  readonly isAnyAwaited: (from: string) => boolean;
}

/** A part of the session that asks participants questions in words. */
interface QuestionAsker {
  /** The id of a question that this participant's next words may answer. */
  readonly openQuestionId: (from: string) => string | undefined;
}

interface AdmissionOptions {
  readonly outbox: Pick<Outbox, "postRefusal" | "postError">;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly policy: { readonly phrases?: PhraseTable };
  readonly asking: readonly AnswerAwaiter[];
  readonly worded: readonly QuestionAsker[];
  readonly telemetry: Pick<SessionTelemetry, "recordDropped">;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Rate-limits what participants send. The first answer to a request from the worker is always admitted, at no cost.
 * Everything else is charged to the sender's budget, except progress of calls, which has a separate budget. A sender
 * whose budget is used up may still say or type the first words after a question asked in words. Anything else is
 * dropped, and the sender receives one refusal with a time to try again, or one for each dropped UserMessage.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #answered = new Set<string>();
  /** One budget for all packets with an unknown sender. */
  readonly #unclear = new MessageBudget();

  readonly #drops: CountedLog;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#drops = new CountedLog(options.logger, "message dropped");
  }

  packet(from: ParticipantState, bytes: Uint8Array): boolean {
    const type = peekType(bytes);
    const isProgress = type === MESSAGES.tool_use_progress.number;
    if (!isProgress && this.#isFirstAnswer(from.identity, bytes)) return true;
    const budget = isProgress ? from.progressBudget : from.budget;
    if (budget.spend(messageCost(bytes.length), performance.now())) return true;
    const isMessage = type === MESSAGES.user_message.number;
    if (isMessage && this.#mayAnswer(from.identity)) return true;
    this.#turnAway(budget, isMessage ? "message" : "packet", (retryAfterMs) => this.#refuse(from, bytes, retryAfterMs));
    return false;
  }

  /**
   * Returns whether text or speech is admitted. A refusal is sent on `lk.transcription`, because the participant's
   * client may not speak the protocol.
   */
  text(from: ParticipantState, text: string): boolean {
    if (this.#spend(from, messageCost(text.length)) || this.#mayAnswer(from.identity)) return true;
    this.#refuseText(from);
    return false;
  }

  /**
   * Refuses a text stream whose text `text` would reject. Called before the stream is read, because reading it is the
   * main cost.
   */
  checkTextStream(from: ParticipantState | undefined, refuse: () => void): void {
    if (!from || this.#spend(from, 0) || this.#openQuestion(from.identity) !== undefined) return;
    this.#refuseText(from);
    refuse();
  }

  #refuseText(from: ParticipantState): void {
    this.#turnAway(from.budget, "text", () => {
      const stream = new TranscriptionStream(() => this.#options.link.openTranscription(createId()));
      stream.write(phrasesFor(from.language, this.#options.policy.phrases).tooMany);
      stream.close();
    });
  }

  /** Handles a packet that any of the candidates may have sent. */
  unclear(candidates: readonly string[], bytes: Uint8Array): void {
    this.drop("unclear_sender");
    const { outbox } = this.#options;
    if (this.#unclear.spend(messageCost(bytes.length), performance.now())) requestResend(candidates, bytes, outbox);
  }

  /** Handles a stream that was rejected. */
  stream(from: ParticipantState): void {
    const error = new AppError(
      "too_many",
      "Byte stream dropped: too many streams are open, or they are too large in total",
    );
    from.budget.charge(1);
    this.#turnAway(from.budget, "stream", (retryAfterMs) =>
      this.#options.outbox.postRefusal(error, from.identity, { originatingId: undefined, retryAfterMs }),
    );
  }

  drop(reason: string, error?: unknown): void {
    this.#options.telemetry.recordDropped(reason);
    const code = error instanceof AppError ? error.code : undefined;
    this.#drops.note({ reason, code }, reason === "handler_failed" ? error : undefined);
  }

  close(): void {
    this.#drops.close();
  }

  #spend({ budget }: ParticipantState, cost: number): boolean {
    return budget.spend(cost, performance.now());
  }

  #turnAway(budget: MessageBudget, kind: InputKind, sendRefusal: (retryAfterMs: number) => void): void {
    this.drop("rate_limited");
    const retryAfterMs = budget.refuse(kind, performance.now());
    if (retryAfterMs !== undefined) sendRefusal(retryAfterMs);
  }

  /**
   * Whether the sender's words are the first ones after a question asked in words. Checked only for a sender without
   * budget.
   */
  #mayAnswer(from: string): boolean {
    const question = this.#openQuestion(from);
    if (question === undefined) return false;
    this.#remember(question);
    return true;
  }

  /** Returns the id of a question that this participant's next words may answer, if no answer was admitted yet. */
  #openQuestion(from: string): string | undefined {
    const questions = this.#options.worded.flatMap((one) => one.openQuestionId(from) ?? []);
    return questions.find((id) => !this.#answered.has(id));
  }

  #remember(answered: string): void {
    this.#answered.add(answered);
    evictOldest(this.#answered, REMEMBERED_ANSWERS);
  }

  #isFirstAnswer(from: string, bytes: Uint8Array): boolean {
    const asking = this.#options.asking.filter((one) => one.isAnyAwaited(from));
    const answer = asking.length > 0 ? answeredRequest(bytes) : undefined;
    if (!answer || !asking.some((one) => one.isAwaited(from, answer))) return false;
    const key = JSON.stringify(answer);
    if (this.#answered.has(key)) return false;
    this.#remember(key);
    return true;
  }

  #refuse({ identity }: ParticipantState, bytes: Uint8Array, retryAfterMs: number): void {
    const { body } = peekEnvelope(bytes);
    const { id, requestId = id } = isRecord(body) ? body : {};
    const originatingId = typeof requestId === "string" && requestId !== "" ? requestId : undefined;
    const error = new AppError(
      "too_many",
      "Rate limit exceeded: send this message and all later ones again after retryAfterMs",
    );
    this.#options.outbox.postRefusal(error, identity, { originatingId, retryAfterMs });
  }
}

/** What a packet claims to answer: a call, the stanza of a call's request, or a permission request. */
export type AnsweredRequest =
  | { readonly kind: "result" | "error"; readonly callId: string }
  | { readonly kind: "claim"; readonly stanzaId: number }
  | { readonly kind: "permission"; readonly permissionId: string };

/**
 * Returns what a packet answers, if anything. Decodes as little as possible, because the packet may still be rejected.
 */
function answeredRequest(bytes: Uint8Array): AnsweredRequest | undefined {
  const { type, body } = peekEnvelope(bytes);
  if (!isRecord(body)) return undefined;
  const { id, requestId = id, originatingId, permissionId, acknowledgedStanzaId } = body;
  if (type === MESSAGES.tool_use_result.number && typeof requestId === "string")
    return { kind: "result", callId: requestId };
  if (type === MESSAGES.error_message.number && typeof originatingId === "string")
    return { kind: "error", callId: originatingId };
  if (type === MESSAGES.permission_response.number && typeof permissionId === "string")
    return { kind: "permission", permissionId };
  if (type === MESSAGES.acknowledgement.number && typeof acknowledgedStanzaId === "number")
    return { kind: "claim", stanzaId: Math.abs(acknowledgedStanzaId) };
  return undefined;
}

/**
 * Asks every possible sender of a packet to send it again. Only the real sender knows the id, so nobody else resends
 * the packet. A packet without an id needs no request: its sender resends it when no Ack arrives.
 */
function requestResend(candidates: readonly string[], bytes: Uint8Array, outbox: Pick<Outbox, "postError">): void {
  const id = idOf(bytes);
  if (id === undefined) return;
  const error = new AppError("unavailable", "The sender of this message could not be identified: send it again");
  for (const identity of candidates) outbox.postError(error, identity, id);
}

function idOf(bytes: Uint8Array): string | undefined {
  try {
    const incoming = decodeEnvelope(bytes);
    if (!("message" in incoming)) return incoming.id;
    const { type, body } = incoming.message;
    return "id" in body && type !== "error_message" ? body.id : undefined;
  } catch {
    return undefined;
  }
}
