import { setTimeout as sleep } from "node:timers/promises";
import { countLetters } from "../../conversation/truncate-to-played.ts";
import type { AnswerToSpeak, Aside, SpeechEnd, SpokenAnswer } from "../../session/room/voice-port.ts";
import type { VoiceChoice } from "../providers/synthesizer.ts";
import type { Playback, Played, Player } from "./player.ts";
import { SpokenPart } from "./spoken-part.ts";
import type { Thinking } from "./thinking.ts";

/** How much of an interrupted aside, as a share of its letters, must have been heard for it to count as spoken. */
const PLAYED_SHARE = 0.75;
/**
 * How long the agent is silent before it is heard thinking. Together with the silence that ends a turn, this is about
 * one second, after which people in a conversation begin to wonder. Answers that are on time come earlier.
 */
const THINKING_AFTER_MS = 800;

interface Queued {
  readonly part: SpokenPart;
  readonly spoken: PromiseWithResolvers<boolean>;
}

interface AnswerVoice {
  /**
   * Returns the name of the voice for the next part, or undefined for the default voice. Each part keeps its voice: when
   * a handoff within an answer changes the voice, text of the first agent may not have been spoken yet.
   */
  readonly voiceName?: () => VoiceChoice | undefined;
  readonly thinking?: Pick<Thinking, "play" | "prepare"> | undefined;
  /**
   * Resolves when a participant's words have become an utterance, which may stop the answer. Returns `undefined` if
   * there are none. No part begins before that, because it would be cut off at once.
   */
  readonly untilUttered?: (() => Promise<void> | undefined) | undefined;
}

/**
 * Speaks one answer and its asides (words from the worker that are not part of the answer), one part after another.
 * Ends when a participant interrupts it.
 */
export class AnswerSpeech implements SpokenAnswer {
  readonly #player: Player;
  readonly #answer: AnswerToSpeak;
  readonly #voiceName: () => VoiceChoice | undefined;
  readonly #thinking: AnswerVoice["thinking"];
  readonly #untilUttered: NonNullable<AnswerVoice["untilUttered"]>;
  readonly #silenced = new AbortController();
  readonly #waiting: Queued[] = [];
  #playing: { readonly queued: Queued; readonly playback: Playback } | undefined;
  /** Resolves once all parts have been played. Undefined if no part is playing or waiting. */
  #running: Promise<void> | undefined;
  /** The part that the answer's text is currently added to. */
  #writing: SpokenPart | undefined;
  /** `silent`: later text is shown but not spoken. `stopped`: text that has not been heard yet is dropped. */
  #state: "speaking" | "silent" | "stopped" = "speaking";
  #playedText = "";
  #isWhole = true;
  /** Whether nothing was spoken or heard yet. */
  #isFirstSound = true;

  constructor(player: Player, answer: AnswerToSpeak, voice: AnswerVoice = {}) {
    const { voiceName = () => undefined, thinking, untilUttered = () => undefined } = voice;
    this.#untilUttered = untilUttered;
    this.#player = player;
    this.#answer = answer;
    this.#voiceName = voiceName;
    this.#thinking = thinking;
  }

  write(text: string): void {
    const isBlank = text.trim() === "";
    if (this.#state === "stopped" && !isBlank) this.#isWhole = false;
    if (this.#state !== "speaking" || (isBlank && !this.#writing)) return;
    if (!this.#writing) {
      const { language, onPlayed } = this.#answer;
      this.#writing = new SpokenPart({ kind: "answer", language, voice: this.#voiceName(), onPlayed });
      this.#add(this.#writing);
    }
    this.#writing.write(text);
  }

  endSentence(): void {
    this.#writing?.endSentence();
  }

  flush(): void {
    this.#writing?.end();
    this.#writing = undefined;
  }

  aside({ text, onBegun }: Parameters<SpokenAnswer["aside"]>[0]): Aside {
    if (this.#state !== "speaking") return { spoken: Promise.resolve(false), cut: () => {} };
    this.flush();
    const { language } = this.#answer;
    let notifyBegun = onBegun;
    const onPlayed = () => {
      notifyBegun?.();
      notifyBegun = undefined;
    };
    const part = new SpokenPart({ kind: "aside", language, voice: this.#voiceName(), onPlayed });
    part.write(text);
    part.end();
    const queued = this.#add(part);
    return { spoken: queued.spoken.promise, cut: () => this.#cut(queued) };
  }

  think(signal: AbortSignal): void {
    if (!this.#thinking || this.#state !== "speaking") return;
    void this.#thinkAloud(this.#thinking, AbortSignal.any([signal, this.#silenced.signal])).catch(() => {});
  }

  async untilPlayed(): Promise<void> {
    this.flush();
    await this.#running;
  }

  silence(): void {
    this.#end("silent");
  }

  stop(): void {
    this.#end("stopped");
  }

  async end(): Promise<SpeechEnd> {
    await this.untilPlayed();
    void this.#thinking?.prepare({ language: this.#answer.language, voice: this.#voiceName() });
    return { heard: this.#isWhole || this.#state === "silent" ? undefined : this.#playedText };
  }

  /** Waits until the agent has been silent for a while. Rejects when the signal aborts. */
  async #thinkAloud(thinking: Pick<Thinking, "play">, signal: AbortSignal): Promise<void> {
    await this.#running;
    await sleep(THINKING_AFTER_MS, undefined, { signal });
    // Something is about to be spoken.
    if (this.#running) return;
    const isFirst = this.#isFirstSound;
    this.#isFirstSound = false;
    await thinking.play({ language: this.#answer.language, voice: this.#voiceName(), isFirst }, signal);
  }

  #add(part: SpokenPart): Queued {
    this.#isFirstSound = false;
    const queued = { part, spoken: Promise.withResolvers<boolean>() };
    this.#waiting.push(queued);
    this.#running ??= this.#run();
    return queued;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const uttered = this.#untilUttered();
      if (uttered) await uttered;
      const queued = this.#waiting.shift();
      if (!queued) break;
      const playback = this.#player.play(queued.part);
      this.#playing = { queued, playback };
      const played = await playback.done;
      this.#playing = undefined;
      this.#take(queued, played);
    }
    this.#running = undefined;
  }

  #take({ part, spoken }: Queued, { end: ended, heard }: Played): void {
    const end = ended === "interrupted" && isAnswered(part, heard) ? "whole" : ended;
    spoken.resolve(end === "whole");
    if (this.#writing === part) this.#writing = undefined;
    part.end();
    if (end === "whole") part.markRestPlayed();
    if (part.kind === "answer") this.#handlePlayed(part, end === "whole" ? part.text : heard);
    if (end === "interrupted" && this.#state === "speaking") {
      this.#end("stopped");
      this.#answer.onInterrupted();
    }
    if (end === "unspoken" && this.#state === "speaking") {
      this.#end("silent");
      this.#answer.onUnspoken();
    }
  }

  #handlePlayed(part: SpokenPart, heard: string): void {
    this.#playedText += this.#playedText === "" || heard === "" ? heard : ` ${heard.trimStart()}`;
    if (countLetters(heard) < countLetters(part.text)) this.#isWhole = false;
  }

  #end(state: "silent" | "stopped"): void {
    if (this.#state !== "speaking") return;
    this.#state = state;
    this.#silenced.abort();
    this.flush();
    for (const { part, spoken } of this.#waiting.splice(0)) {
      spoken.resolve(false);
      if (part.kind === "answer") this.#isWhole = false;
    }
    this.#playing?.playback.cut();
  }

  #cut(queued: Queued): void {
    const index = this.#waiting.indexOf(queued);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      queued.spoken.resolve(false);
    } else if (this.#playing?.queued === queued) this.#playing.playback.cut();
  }
}

/**
 * Whether an aside was heard almost in full. A participant who interrupts only its last words may be answering its
 * question.
 */
function isAnswered({ kind, text }: SpokenPart, heard: string): boolean {
  return kind === "aside" && countLetters(heard) >= PLAYED_SHARE * countLetters(text);
}
