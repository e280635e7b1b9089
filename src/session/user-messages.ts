import { AppError } from "../errors/app-error.ts";
import type { JsonObject } from "../lib/json.ts";
import type { MessageBody } from "../protocol/messages/messages.ts";
import { readAttachments } from "../tool/results/read-attachments.ts";
import type { WaitingMessage } from "../store/turns/waiting-messages.ts";
import type { ParticipantState } from "./participants/participant-state.ts";
import type { Participants } from "./participants/participants.ts";
import type { PermissionDesk } from "./permission/permission-desk.ts";
import type { Recorder } from "./record/recorder.ts";
import type { SessionMedia } from "./record/session-media.ts";
import type { Transcript } from "./room/voice-port.ts";
import type { NewTurn } from "./turns/turn-queue.ts";
import type { Outbox } from "./wire/outbox.ts";
import type { Admission } from "./inbox/admission.ts";
import { HandledMessages, type UserInput } from "./inbox/user-input.ts";

interface UserMessagesOptions {
  /** The ids of messages that were already handled. */
  readonly messageIds: readonly string[];
  readonly admission: Pick<Admission, "text">;
  /** The parts of the session that ask questions in words. An utterance goes to the first that accepts it. */
  readonly worded: readonly Pick<PermissionDesk, "takeUtterance">[];
  readonly recorder: Pick<Recorder, "storeMessage">;
  readonly media: Pick<SessionMedia, "keep">;
  readonly outbox: Pick<Outbox, "post" | "postError">;
  readonly participants: Pick<Participants, "present" | "withFeature">;
  /** @throws {AppError} `queue_overflow`, `unavailable` */
  readonly add: (turn: NewTurn, options: { readonly interrupts: boolean }) => void;
  /** Called when an utterance answered a question, and so begins no turn. */
  readonly onQuestionAnswered: () => void;
  /** Called before a message is handled, and while a message is being spoken. */
  readonly onSaid: (identity: string) => void;
}

interface More extends Pick<NewTurn, "meta" | "isInherited" | "spoken"> {
  readonly interrupts?: boolean;
}

/** Handles what participants type and say: each message begins a turn or answers a question. */
export class UserMessages {
  readonly #options: UserMessagesOptions;
  readonly #handled: HandledMessages;

  constructor(options: UserMessagesOptions) {
    this.#options = options;
    this.#handled = new HandledMessages(options.messageIds);
  }

  /** Marks the message with this id as handled, because it already has a turn. */
  markHandled(id: string): void {
    this.#handled.add(id);
  }

  /** Handles a message typed on `lk.chat` or spoken. If it is rejected, its sender gets an ErrorMessage. */
  receive(participant: ParticipantState, said: UserInput, transcript?: Transcript): void {
    const { admission, outbox } = this.#options;
    if (!admission.text(participant, said.content)) return;
    if (transcript) this.#show(participant.identity, transcript, true);
    try {
      // Not awaited: speech and `lk.chat` have no Ack that depends on the message being stored.
      this.begin(participant, said)?.catch(() => {});
    } catch (error) {
      outbox.postError(error, participant.identity, said.id);
    }
  }

  /** Sends the interim transcript of an ongoing utterance. */
  showTranscript(from: string, transcript: Transcript): void {
    this.#options.onSaid(from);
    this.#show(from, transcript, false);
  }

  /**
   * Begins a turn, unless the message answers a question that was asked in words. Speech interrupts the running turn
   * regardless of the policy, unless a tool blocks interruption. Resolves once the message is stored. Returns
   * `undefined` if nothing has to be stored.
   *
   * @throws {AppError} `malformed`, `too_large`, `queue_overflow`, `unavailable`
   */
  begin(
    from: ParticipantState,
    { id, content, via = "text", ...said }: UserInput,
    meta: JsonObject = {},
  ): Promise<void> | undefined {
    if (this.#handled.has(id)) return this.#handled.storing(id);
    const { parts: attachments, media } = readAttachments(said.attachments ?? []);
    if (content.trim() === "" && attachments.length === 0)
      throw new AppError("malformed", "user_message.content: expected some text");
    const { identity } = from;
    this.#options.onSaid(identity);
    const isAnswer = () => this.#options.worded.some((asking) => asking.takeUtterance(from, content, via));
    if (attachments.length === 0 && said.isMixed !== true && isAnswer()) {
      this.#handled.add(id);
      this.#options.onQuestionAnswered();
      return undefined;
    }
    const message = { id, participantIdentity: identity, content, attachments };
    this.add(message, { meta, interrupts: via === "voice", spoken: said.spoken });
    if (via === "text" && content.trim() !== "") this.#showOthers(identity, { id, text: content, final: true });
    // Keep the media only once the message is accepted, so that nothing is stored for a rejected message. The turn
    // that needs the media has not called the model yet.
    const mediaStored = this.#options.media.keep({ callId: null, from: identity, media });
    mediaStored.catch(() => {});
    const stored = Promise.all([mediaStored, this.#options.recorder.storeMessage(message)]).then(() => {});
    this.#handled.add(id, stored);
    return stored;
  }

  add({ id: messageId, participantIdentity: participant, content, ...message }: WaitingMessage, more: More = {}): void {
    const { interrupts = false, ...rest } = more;
    const input = [...(message.attachments ?? []), { type: "text", text: content } as const];
    this.#options.add({ participant, messageId, input, ...rest }, { interrupts });
    this.#handled.add(messageId);
  }

  #show(participant: string, { id, text, language }: Transcript, final: boolean): void {
    const { outbox, participants } = this.#options;
    const body = { id, text, final, ...(language !== undefined && { language }) };
    const others = participants.present.map(({ identity }) => identity).filter((identity) => identity !== participant);
    outbox.post({ type: "transcription", body }, { to: [participant] });
    outbox.post({ type: "transcription", body: { ...body, participant } }, { to: others });
  }

  /** Sends a typed message to the other clients with the feature `blocks`, which also receive its answer. */
  #showOthers(participant: string, body: MessageBody<"transcription">): void {
    const { outbox, participants } = this.#options;
    const to = participants.withFeature("blocks").filter((identity) => identity !== participant);
    outbox.post({ type: "transcription", body: { ...body, participant } }, { to });
  }
}
