import { cleanText } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import { type OnRoomInput, type RoomParticipant } from "../../session/room/room-input.ts";

interface UserSpeechOptions {
  /** Gets `transcript` and `utterance`. */
  readonly take: OnRoomInput;
  /** The participant that is listened to. */
  readonly speaker: () => RoomParticipant | undefined;
  /** What is said now would not be handed on as a turn: the agent's speech may not be interrupted. */
  readonly isHeldBack: () => boolean;
  readonly isSpeaking: () => boolean;
  /** So long after the last words, a turn that AgentSession keeps to itself is handed on all the same. */
  readonly giveUpAfterMs: number;
}

/** Puts what the recogniser understands together: one id, and one text that grows, for all that is said in one go. */
export class UserSpeech {
  readonly #options: UserSpeechOptions;
  #id: string | undefined;
  #from: RoomParticipant | undefined;
  #language: string | undefined;
  #finals = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UserSpeechOptions) {
    this.#options = options;
  }

  /** A piece is final when it will not change any more; more may follow. */
  take(
    text: string,
    { isFinal, language }: { readonly isFinal: boolean; readonly language: string | undefined },
  ): void {
    if (text.trim() === "") return;
    this.#language = language ?? this.#language;
    this.#from ??= this.#options.speaker();
    const whole = join(this.#finals, text);
    if (isFinal) this.#finals = whole;
    this.#id ??= createId();
    if (this.#from) this.#options.take({ type: "transcript", from: this.#from, transcript: this.#transcript(whole) });
    if (isFinal && this.#options.isHeldBack()) this.#handOnLater();
  }

  /** What was said is complete. */
  complete(text: string): void {
    clearTimeout(this.#timer);
    const from = this.#from ?? this.#options.speaker();
    const transcript = this.#transcript(text);
    this.#id = undefined;
    this.#from = undefined;
    this.#language = undefined;
    this.#finals = "";
    if (from && text.trim() !== "") this.#options.take({ type: "utterance", from, transcript });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #transcript(text: string) {
    return { id: this.#id ?? createId(), text: cleanText(text).trim(), language: this.#language };
  }

  #handOnLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#finals === "") return;
      if (this.#options.isSpeaking()) this.#handOnLater();
      else this.complete(this.#finals);
    }, this.#options.giveUpAfterMs);
  }
}

/**
 * Whether a participant is saying something. It is until what it said is understood, which is later than its silence: what
 * comes of it may be the rest of a question.
 */
export class Quiet {
  readonly #giveUpAfterMs: number;
  #quiet = Promise.withResolvers<void>();
  #isQuiet = true;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUpAfterMs silence in which nothing was understood, and nothing will be */
  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#quiet.resolve();
  }

  /** Resolves when nothing is being said. */
  get reached(): Promise<void> {
    return this.#quiet.promise;
  }

  noteSpeech(): void {
    clearTimeout(this.#timer);
    if (this.#isQuiet) this.#quiet = Promise.withResolvers<void>();
    this.#isQuiet = false;
  }

  noteSilence(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.noteUnderstood(), this.#giveUpAfterMs);
  }

  /** What was said has been handed on, or was nothing. */
  noteUnderstood(): void {
    clearTimeout(this.#timer);
    this.#isQuiet = true;
    this.#quiet.resolve();
  }
}

function join(before: string, text: string): string {
  return before === "" ? text.trim() : `${before} ${text.trim()}`;
}
