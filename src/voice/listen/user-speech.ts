import { cleanText } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import type { OnRoomInput, RoomParticipant } from "../../session/room/room-input.ts";
import type { SpokenTimes } from "../../session/room/voice-port.ts";

interface UserSpeechOptions {
  /** Gets what was said, as `transcript` and `utterance`. */
  readonly take: OnRoomInput;
  /** The participant that is listened to. */
  readonly speaker: () => RoomParticipant | undefined;
  /** Whether the agent's speech may not be interrupted now: AgentSession then hands on no turn. */
  readonly isHeldBack: () => boolean;
  readonly isSpeaking: () => boolean;
  /** When what is complete now was said. */
  readonly spoken: () => SpokenTimes | undefined;
  /** While held back, what was said is handed on this long after its last words. */
  readonly giveUpAfterMs: number;
}

interface Piece {
  readonly isFinal: boolean;
  readonly language: string | undefined;
  /** Who said it, if the recogniser's stream tells. */
  readonly speaker?: RoomParticipant | undefined;
}

/** Joins the recogniser's pieces into utterances: each has one id, and a text that grows until it is complete. */
export class UserSpeech {
  readonly #options: UserSpeechOptions;
  #id: string | undefined;
  #from: RoomParticipant | undefined;
  /** Whether another participant was listened to before the words had come, or its words are among these. */
  #isMixed = false;
  /** Whether a sound has begun that has brought no words yet. */
  #isSoundOpen = false;
  #language: string | undefined;
  #finals = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UserSpeechOptions) {
    this.#options = options;
  }

  /** A sound begins: whatever words come of it are those of the participant that is listened to now. */
  begin(): void {
    this.#isSoundOpen = true;
    if (this.#id === undefined) this.#from = this.#options.speaker();
  }

  /**
   * Another participant is listened to from now on.
   *
   * @param areWordsDue of what was said before
   * @returns whether words of what was said before may still come, however unlikely
   */
  changeSpeaker(areWordsDue: boolean): boolean {
    const mayWordsCome = areWordsDue || this.#isSoundOpen;
    this.#isSoundOpen = false;
    if (areWordsDue || this.#id !== undefined) this.#isMixed = true;
    else this.#from = undefined;
    return mayWordsCome;
  }

  /** Takes a piece of an utterance. A final piece does not change any more, but others may follow it. */
  take(text: string, { isFinal, language, speaker }: Piece): void {
    if (text.trim() === "") return;
    this.#isSoundOpen = false;
    this.#language = language ?? this.#language;
    if (this.#id === undefined && speaker) this.#from = speaker;
    this.#from ??= this.#options.speaker();
    if (speaker && speaker.identity !== this.#from?.identity) this.#isMixed = true;
    const whole = join(this.#finals, text);
    if (isFinal) this.#finals = whole;
    this.#id ??= createId();
    const from = this.#from;
    if (from) this.#options.take({ type: "transcript", from, transcript: this.#transcript(whole), isFinal });
    if (isFinal && this.#options.isHeldBack()) this.#handOnLater();
  }

  /** The utterance is complete, with this text. */
  complete(text: string): void {
    clearTimeout(this.#timer);
    const from = this.#from ?? this.#options.speaker();
    const spoken = this.#options.spoken();
    const transcript = { ...this.#transcript(text), spoken, ...(this.#isMixed && { isMixed: true }) };
    this.#id = undefined;
    this.#from = undefined;
    this.#isMixed = false;
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
 * Whether a participant is saying something. It is not quiet when its sound ends, but when its words have been handed
 * on: they may be the rest of a question.
 */
export class Quiet {
  readonly #giveUpAfterMs: number;
  #quiet = Promise.withResolvers<void>();
  #isQuiet = true;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUpAfterMs after this much silence no words are expected any more */
  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#quiet.resolve();
  }

  /** Resolves when nothing is being said. */
  get reached(): Promise<void> {
    return this.#quiet.promise;
  }

  get isReached(): boolean {
    return this.#isQuiet;
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

  /** What was said has been handed on, or had no words. */
  noteUnderstood(): void {
    clearTimeout(this.#timer);
    this.#isQuiet = true;
    this.#quiet.resolve();
  }
}

function join(before: string, text: string): string {
  return before === "" ? text.trim() : `${before} ${text.trim()}`;
}
