import { type Logger } from "pino";
import { AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import { isRecord } from "../../lib/json.ts";
import { keepNewest } from "../../lib/keep-newest.ts";
import { decodeEnvelope } from "../../protocol/codec/codec.ts";
import { peekEnvelope } from "../../protocol/codec/peek.ts";
import { MESSAGES } from "../../protocol/messages/messages.ts";
import { toWireError } from "../../protocol/wire-error.ts";
import { type PhraseTable, phrasesFor } from "../answer/phrases.ts";
import { TranscriptionStream } from "../answer/transcription-stream.ts";
import { MessageBudget, costOf } from "../peers/message-budget.ts";
import { type Peer } from "../peers/peer.ts";
import { type RoomLink } from "../room/room-link.ts";
import { type SessionTelemetry } from "../telemetry/session-telemetry.ts";
import { CountedLog } from "../wire/counted-log.ts";
import { type Outbox } from "../wire/outbox.ts";

/** Answers that came once are no longer waited for; more are not open at once. */
const REMEMBERED_ANSWERS = 1_000;

/** Who in the worker asks participants for something. */
interface Asking {
  /** Whether this participant was asked for it, and has not answered. */
  readonly isAwaited: (from: string, answer: AnsweredRequest) => boolean;
  /** Whether it was asked for anything. */
  readonly isAnyAwaited: (from: string) => boolean;
}

interface AdmissionOptions {
  readonly outbox: Pick<Outbox, "post" | "postError">;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly phrases: PhraseTable | undefined;
  readonly asking: readonly Asking[];
  readonly telemetry: Pick<SessionTelemetry, "noteDropped">;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Lets in what the worker has asked for, always and without counting: how much that is, the worker decides. All else is
 * paid for by its sender's budget. Whoever has used it up is told when to come again, once in that time.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #answered = new Set<string>();
  /** Of packets that nobody can be told from. */
  readonly #unclear = new MessageBudget();

  readonly #drops: CountedLog;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#drops = new CountedLog(options.logger, "message dropped");
  }

  packet(from: Peer, bytes: Uint8Array): boolean {
    if (this.#isFirstAnswer(from.identity, bytes)) return true;
    return this.#spend(from, costOf(bytes.length), (retryAfterMs) => this.#refuse(from, bytes, retryAfterMs));
  }

  /** Typed or said by somebody whose client may know no more of the protocol than to show text. */
  text(from: Peer, text: string): boolean {
    return this.#spend(from, costOf(text.length), () => {
      const stream = new TranscriptionStream(() => this.#options.link.openTranscription(createId()));
      stream.write(phrasesFor(from.language, this.#options.phrases).tooMany);
      stream.close();
    });
  }

  /** A packet of one of these. */
  unclear(candidates: readonly string[], bytes: Uint8Array): void {
    this.drop("unclear_sender");
    const { outbox } = this.#options;
    if (this.#unclear.spend(costOf(bytes.length), performance.now())) askAgain(candidates, bytes, outbox);
  }

  /** A stream that is not read. */
  stream(from: Peer): void {
    const text = "A stream was dropped: too many are open at once, or they hold too much";
    const isTold = this.#spend(from, 1, () => {});
    if (isTold) this.#options.outbox.postError(new AppError("too_many", text), from.identity);
  }

  drop(reason: string, error?: unknown): void {
    this.#options.telemetry.noteDropped(reason);
    const code = error instanceof AppError ? error.code : undefined;
    this.#drops.note({ reason, code }, reason === "handler_failed" ? error : undefined);
  }

  close(): void {
    this.#drops.close();
  }

  #spend({ budget }: Peer, cost: number, tell: (retryAfterMs: number) => void): boolean {
    const now = performance.now();
    if (budget.spend(cost, now)) return true;
    this.drop("rate_limited");
    const retryAfterMs = budget.tell(now);
    if (retryAfterMs !== undefined) tell(retryAfterMs);
    return false;
  }

  #isFirstAnswer(from: string, bytes: Uint8Array): boolean {
    const asking = this.#options.asking.filter((one) => one.isAnyAwaited(from));
    const answer = asking.length > 0 ? answeredRequest(bytes) : undefined;
    if (!answer || !asking.some((one) => one.isAwaited(from, answer))) return false;
    const key = JSON.stringify(answer);
    if (this.#answered.has(key)) return false;
    this.#answered.add(key);
    keepNewest(this.#answered, REMEMBERED_ANSWERS);
    return true;
  }

  #refuse({ identity }: Peer, bytes: Uint8Array, retryAfterMs: number): void {
    const { body } = peekEnvelope(bytes);
    const { id, requestId = id } = isRecord(body) ? body : {};
    const originatingId = typeof requestId === "string" && requestId !== "" ? requestId : undefined;
    const error = new AppError("too_many", "Too many messages, or too large ones: send this and what follows it later");
    const refusal = { ...toWireError(error, { id: createId(), originatingId }), retryAfterMs };
    this.#options.outbox.post({ type: "error_message", body: refusal }, { to: [identity] });
  }
}

/** What a packet says that it answers: a call, the stanza that carried one's request, or a permission request. */
export type AnsweredRequest =
  | { readonly kind: "result" | "error"; readonly callId: string }
  | { readonly kind: "claim"; readonly stanzaId: number }
  | { readonly kind: "permission"; readonly permissionId: string };

/** Looks no further into a packet than it must: it may be one too many. */
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
 * Tells all who may have sent a packet that its sender is not known. Only the one that did knows the id, and sends it
 * again; a packet without an id is repeated when its Ack does not come.
 */
function askAgain(candidates: readonly string[], bytes: Uint8Array, outbox: Pick<Outbox, "postError">): void {
  const id = idOf(bytes);
  if (id === undefined) return;
  const error = new AppError("unavailable", "Its sender could not be told from others who joined: send it again");
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
