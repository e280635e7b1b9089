import { countLetters, dropLetters } from "../../conversation/heard.ts";
import { createId } from "../../lib/id.ts";
import { type Outbox } from "../wire/outbox.ts";
import { PacedSentences } from "./paced-sentences.ts";
import { type RoomLink } from "../room/room-link.ts";
import { countSentences, Speaker } from "./speaker.ts";
import { TranscriptionStream } from "./transcription-stream.ts";
import { type SpeechEnd, type SpokenAnswer, type VoicePort } from "../room/voice-port.ts";

interface AnswerOutputOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice: VoicePort | undefined;
  /** The StartAnswer's id. */
  readonly messageId: string;
  /** Whose turn it is. */
  readonly participant: string;
  readonly language: string | undefined;
  /** What an earlier worker has said of the answer: its sentences keep their numbers. */
  readonly said: { readonly texts: readonly string[]; readonly asides: number };
  /** The participant spoke over the answer. */
  readonly onInterrupted: () => void;
  /** An aside was given a sentence's number. */
  readonly onAside: () => void;
}

/**
 * One answer's way to the participants: speech, if someone listens, AssistantSentences in step with it, and
 * `lk.transcription` for ordinary LiveKit clients (which is the voice's own while it speaks).
 */
export class AnswerOutput {
  readonly #speaker: Speaker;
  readonly #sentences: PacedSentences;
  readonly #transcription: TranscriptionStream;
  readonly #speech: SpokenAnswer | undefined;
  readonly #onAside: () => void;
  #cutFiller: () => void = () => {};
  #isEnded = false;
  /** What comes is shown, but the speech has words of its own for it. */
  #isShownOnly = false;
  /** The speech goes on; otherwise words are shown as they come. */
  #isSpeaking: boolean;
  /** What was given to the speech, and how many letters of it were heard. */
  #given = "";
  #heard = 0;

  constructor(options: AnswerOutputOptions) {
    const { outbox, link, voice, messageId, participant, language, said, onInterrupted } = options;
    const after = countSentences(said.texts, language) + said.asides;
    this.#onAside = options.onAside;
    this.#transcription = new TranscriptionStream(() => link.openTranscription(messageId));
    this.#sentences = new PacedSentences({
      after,
      post: (sentence) => {
        outbox.post({ type: "assistant_sentence", body: { id: createId(), previousId: messageId, ...sentence } });
      },
    });
    this.#speaker = new Speaker(
      { onSentence: (sentence) => this.#sentences.add(sentence), onText: (text) => this.#put(text) },
      { language, after },
    );
    this.#speech = voice?.open({
      messageId,
      participant,
      language,
      onHeard: (text) => {
        this.#heard += countLetters(text);
        this.#sentences.hear(text);
      },
      onInterrupted,
      onUnspoken: () => this.#showRest(),
    });
    this.#isSpeaking = this.#speech !== undefined;
    if (!this.#speech) this.#sentences.release();
  }

  /** It is spoken, too. */
  get isSpoken(): boolean {
    return this.#speech !== undefined;
  }

  write(text: string): void {
    this.#cutFiller();
    this.#speaker.write(text);
  }

  /** A sentence ends here whatever its last character is. */
  flush(): void {
    this.#speaker.flush();
    this.#speech?.flush();
  }

  /**
   * Says what is not part of the answer: neither its record nor the model knows of it. Spoken where there is a voice,
   * else shown as a sentence of its own. Resolves when it has been said, or `signal` has cut it off; never rejects.
   */
  async aside(text: string, signal: AbortSignal): Promise<void> {
    if (this.#isEnded || signal.aborted) return;
    if (!this.#speech || !this.#isSpeaking) {
      this.#onAside();
      return this.#speaker.aside(text);
    }
    const aside = this.#speech.aside(text);
    const cut = () => aside.cut();
    signal.addEventListener("abort", cut, { once: true });
    await aside.spoken;
    signal.removeEventListener("abort", cut);
  }

  /** Said over a wait, and only by voice: the answer's next words cut it off. */
  async filler(text: string, signal: AbortSignal): Promise<void> {
    if (!this.#isSpeaking) return;
    const answered = new AbortController();
    this.#cutFiller = () => answered.abort();
    await this.aside(text, AbortSignal.any([signal, answered.signal]));
  }

  /** Resolves when what was written so far has been heard, or will not be any more. */
  async untilHeard(): Promise<void> {
    if (this.#isSpeaking) await this.#speech?.untilHeard();
  }

  /** The last words, which are the worker's: what the model believes was said stays what it wrote. */
  conclude(text: string, { isShown }: { readonly isShown: boolean }): void {
    this.#cutFiller();
    this.flush();
    if (this.#isSpeaking) this.#speech?.aside(text);
    this.#isShownOnly = this.#isSpeaking;
    if (isShown) this.#speaker.write(text);
  }

  /** Stops the speech; what was not spoken is shown. */
  silence(): void {
    this.#speech?.silence();
    this.#showRest();
  }

  /** The turn was aborted: what was not heard by now never will be. */
  stop(): void {
    this.#speech?.stop();
  }

  /** Sends the final sentence, once the speech has ended; call exactly once. */
  async end(): Promise<SpeechEnd> {
    this.#isEnded = true;
    this.#cutFiller();
    this.#speaker.end();
    const end = await (this.#speech?.end() ?? { heard: undefined });
    if (end.heard === undefined) this.#sentences.release();
    else this.#sentences.drop();
    this.#transcription.close();
    return end;
  }

  #put(text: string): void {
    if (this.#isShownOnly) return;
    if (!this.#isSpeaking) return this.#transcription.write(text);
    this.#given += text;
    this.#speech?.write(text);
  }

  #showRest(): void {
    if (!this.#isSpeaking) return;
    this.#isSpeaking = false;
    this.#sentences.release();
    const rest = dropLetters(this.#given, this.#heard);
    if (rest !== "") this.#transcription.write(rest);
  }
}

interface ApartOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** What it goes on from. */
  readonly previousId: string;
  readonly participant: string;
  readonly language: string | undefined;
}

/** Shows a few words of the worker's own while no turn is there to say them in: an answer that is on no record. Never rejects. */
export async function sayApart(text: string, { previousId, ...options }: ApartOptions): Promise<void> {
  const messageId = createId();
  options.outbox.post({ type: "start_answer", body: { id: messageId, previousId, answerType: "text" } });
  const answer = new AnswerOutput({
    ...options,
    messageId,
    voice: undefined,
    said: { texts: [], asides: 0 },
    onInterrupted: () => {},
    onAside: () => {},
  });
  answer.write(text);
  await answer.end();
}
