import { cleanText } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import type { OnRoomInput, RoomParticipant } from "../../session/room/room-input.ts";
import type { SpokenTimes } from "../../session/room/voice-port.ts";

interface UserSpeechOptions {
  /** Receives `transcript` and `utterance` inputs. */
  readonly take: OnRoomInput;
  /** The participant that the agent listens to. */
  readonly speaker: () => RoomParticipant | undefined;
  /** Whether the agent's current speech cannot be interrupted. If so, AgentSession passes on no turns. */
  readonly isHeldBack: () => boolean;
  readonly isSpeaking: () => boolean;
  /** Returns the times of the utterance that has just been completed. */
  readonly spoken: () => SpokenTimes | undefined;
  /** While `isHeldBack` is true, an utterance is passed on this long after its last words. */
  readonly giveUpAfterMs: number;
  /**
   * Called when an utterance is complete. Only for a recognizer whose pieces repeat all earlier words of the utterance.
   */
  readonly onComplete?: (() => void) | undefined;
}

interface Piece {
  readonly isFinal: boolean;
  readonly language: string | undefined;
  /** The speaker, if the recognizer is a streaming one whose stream shows who spoke. */
  readonly speaker?: RoomParticipant | undefined;
}

/**
 * Joins the recognizer's pieces into utterances. Each utterance has one id, and a text that grows until the utterance
 * is complete.
 */
export class UserSpeech {
  readonly #options: UserSpeechOptions;
  #id: string | undefined;
  #from: RoomParticipant | undefined;
  /**
   * Whether the speaker changed before all words had arrived, so that the utterance may contain another participant's
   * words.
   */
  #isMixed = false;
  /** Whether the participant has made a sound that has not produced words yet. */
  #isSoundOpen = false;
  #language: string | undefined;
  #finals = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UserSpeechOptions) {
    this.#options = options;
  }

  /** Whether the participant has said words that are not passed on as an utterance yet. */
  get isOpen(): boolean {
    return this.#id !== undefined;
  }

  /** Called when a sound starts. Its words belong to the participant that the agent listens to now. */
  begin(): void {
    this.#isSoundOpen = true;
    if (this.#id === undefined) this.#from = this.#options.speaker();
  }

  /**
   * Called when the agent starts listening to another participant.
   *
   * @param areWordsDue whether words of earlier speech are still due
   * @returns whether words of earlier speech may still arrive, however unlikely
   */
  changeSpeaker(areWordsDue: boolean): boolean {
    const mayWordsCome = areWordsDue || this.#isSoundOpen;
    this.#isSoundOpen = false;
    if (areWordsDue || this.#id !== undefined) this.#isMixed = true;
    else this.#from = undefined;
    return mayWordsCome;
  }

  /** Adds a piece of an utterance. A final piece no longer changes, but more pieces may follow. */
  take(text: string, { isFinal, language, speaker }: Piece): void {
    if (text.trim() === "") return;
    this.#isSoundOpen = false;
    this.#language = language ?? this.#language;
    if (this.#id === undefined && speaker) this.#from = speaker;
    this.#from ??= this.#options.speaker();
    if (speaker && speaker.identity !== this.#from?.identity) this.#isMixed = true;
    const whole = this.#options.onComplete ? text.trim() : join(this.#finals, text);
    if (isFinal) this.#finals = whole;
    this.#id ??= createId();
    const from = this.#from;
    if (from) this.#options.take({ type: "transcript", from, transcript: this.#transcript(whole), isFinal });
    if (isFinal && this.#options.isHeldBack()) this.#handOnLater();
  }

  /** Completes the utterance with this text. */
  complete(text: string): void {
    clearTimeout(this.#timer);
    const from = this.#from ?? this.#options.speaker();
    const spoken = this.#options.spoken();
    const said = this.#options.onComplete ? this.#finals || text : text;
    const transcript = { ...this.#transcript(said), spoken, ...(this.#isMixed && { isMixed: true }) };
    this.#forget();
    if (from && transcript.text !== "") this.#options.take({ type: "utterance", from, transcript });
  }

  /** Drops what was said since the last utterance. If words of it were passed on, takes them back with an empty text. */
  dismiss(): void {
    clearTimeout(this.#timer);
    const from = this.#from;
    if (from && this.#id !== undefined)
      this.#options.take({ type: "transcript", from, transcript: this.#transcript(""), isFinal: false });
    this.#options.spoken();
    this.#isSoundOpen = false;
    this.#forget();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #forget(): void {
    this.#id = undefined;
    this.#from = undefined;
    this.#isMixed = false;
    this.#language = undefined;
    this.#finals = "";
    this.#options.onComplete?.();
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
 * Tracks whether a participant is saying something. Silence counts as reached only once the words have been passed on,
 * not when the sound ends, because the words may be the rest of a question.
 */
export class Quiet {
  readonly #giveUpAfterMs: number;
  #quiet = Promise.withResolvers<void>();
  #isQuiet = true;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUpAfterMs after this much silence, no more words are expected */
  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#quiet.resolve();
  }

  /** Resolves once nobody is saying anything. */
  get reached(): Promise<void> {
    return this.#quiet.promise;
  }

  get isReached(): boolean {
    return this.#isQuiet;
  }

  handleSpeech(): void {
    clearTimeout(this.#timer);
    if (this.#isQuiet) this.#quiet = Promise.withResolvers<void>();
    this.#isQuiet = false;
  }

  handleSilence(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.handleRecognized(), this.#giveUpAfterMs);
  }

  /** Called when the speech was passed on, or contained no words. */
  handleRecognized(): void {
    clearTimeout(this.#timer);
    this.#isQuiet = true;
    this.#quiet.resolve();
  }
}

function join(before: string, text: string): string {
  return before === "" ? text.trim() : `${before} ${text.trim()}`;
}
