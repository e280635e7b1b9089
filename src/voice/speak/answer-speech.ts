import { countLetters } from "../../conversation/heard.ts";
import { type AnswerToSpeak, type Aside, type SpeechEnd, type SpokenAnswer } from "../../session/room/voice-port.ts";
import { type Playback, type Played, type Player } from "./player.ts";
import { Utterance } from "./spoken-part.ts";

/** An aside counts as said when so much of it was heard. */
const HEARD_SHARE = 0.75;

interface Said {
  readonly utterance: Utterance;
  readonly spoken: PromiseWithResolvers<boolean>;
}

/**
 * Speaks one answer: its text and what is said beside it, one utterance after another. A participant that speaks over
 * it ends it.
 */
export class AnswerSpeech implements SpokenAnswer {
  readonly #player: Player;
  readonly #answer: AnswerToSpeak;
  readonly #waiting: Said[] = [];
  #playing: { readonly said: Said; readonly playback: Playback } | undefined;
  /** Resolves when nothing is spoken and nothing waits to be. */
  #running: Promise<void> | undefined;
  /** Takes the answer's text. */
  #writing: Utterance | undefined;
  /** silent: what comes is shown, but not spoken · stopped: what was not heard never will be */
  #state: "speaking" | "silent" | "stopped" = "speaking";
  #heard = "";
  #isWhole = true;

  constructor(player: Player, answer: AnswerToSpeak) {
    this.#player = player;
    this.#answer = answer;
  }

  write(text: string): void {
    const isBlank = text.trim() === "";
    if (this.#state === "stopped" && !isBlank) this.#isWhole = false;
    if (this.#state !== "speaking" || (isBlank && !this.#writing)) return;
    if (!this.#writing) {
      const { language, onHeard } = this.#answer;
      this.#writing = new Utterance({ kind: "answer", language, onHeard });
      this.#add(this.#writing);
    }
    this.#writing.write(text);
  }

  flush(): void {
    this.#writing?.end();
    this.#writing = undefined;
  }

  aside(text: string): Aside {
    if (this.#state !== "speaking") return { spoken: Promise.resolve(false), cut: () => {} };
    this.flush();
    const utterance = new Utterance({ kind: "aside", language: this.#answer.language, onHeard: () => {} });
    utterance.write(text);
    utterance.end();
    const said = this.#add(utterance);
    return { spoken: said.spoken.promise, cut: () => this.#cut(said) };
  }

  async untilHeard(): Promise<void> {
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
    await this.untilHeard();
    return { heard: this.#isWhole || this.#state === "silent" ? undefined : this.#heard };
  }

  #add(utterance: Utterance): Said {
    const said = { utterance, spoken: Promise.withResolvers<boolean>() };
    this.#waiting.push(said);
    this.#running ??= this.#run();
    return said;
  }

  async #run(): Promise<void> {
    for (let said = this.#waiting.shift(); said; said = this.#waiting.shift()) {
      const playback = this.#player.play(said.utterance);
      this.#playing = { said, playback };
      const played = await playback.done;
      this.#playing = undefined;
      this.#take(said, played);
    }
    this.#running = undefined;
  }

  #take({ utterance, spoken }: Said, { end: ended, heard }: Played): void {
    const end = ended === "interrupted" && isAnswered(utterance, heard) ? "whole" : ended;
    spoken.resolve(end === "whole");
    if (this.#writing === utterance) this.#writing = undefined;
    utterance.end();
    if (end === "whole") utterance.hearRest();
    if (utterance.kind === "answer") this.#noteHeard(utterance, end === "whole" ? utterance.text : heard);
    if (end === "interrupted" && this.#state === "speaking") {
      this.#end("stopped");
      this.#answer.onInterrupted();
    }
    if (end === "unspoken" && this.#state === "speaking") {
      this.#end("silent");
      this.#answer.onUnspoken();
    }
  }

  #noteHeard(utterance: Utterance, heard: string): void {
    this.#heard += this.#heard === "" || heard === "" ? heard : ` ${heard.trimStart()}`;
    if (countLetters(heard) < countLetters(utterance.text)) this.#isWhole = false;
  }

  #end(state: "silent" | "stopped"): void {
    if (this.#state !== "speaking") return;
    this.#state = state;
    this.flush();
    for (const { utterance, spoken } of this.#waiting.splice(0)) {
      spoken.resolve(false);
      if (utterance.kind === "answer") this.#isWhole = false;
    }
    this.#playing?.playback.cut();
  }

  #cut(said: Said): void {
    const index = this.#waiting.indexOf(said);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      said.spoken.resolve(false);
    } else if (this.#playing?.said === said) this.#playing.playback.cut();
  }
}

/** Who speaks over the last words of what was said beside the answer, a question perhaps, has heard it. */
function isAnswered({ kind, text }: Utterance, heard: string): boolean {
  return kind === "aside" && countLetters(heard) >= HEARD_SHARE * countLetters(text);
}
