import { countLetters, dropLetters } from "../../conversation/heard.ts";
import { createId } from "../../lib/id.ts";
import type { Outbox } from "../wire/outbox.ts";
import { PacedSentences } from "./paced-sentences.ts";
import type { RoomLink } from "../room/room-link.ts";
import { countSentences, Speaker } from "./speaker.ts";
import { TranscriptionStream } from "./transcription-stream.ts";
import type { SpeechEnd, SpokenAnswer, VoicePort } from "../room/voice-port.ts";

interface AnswerOutputOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice: Pick<VoicePort, "open"> | undefined;
  /** The StartAnswer's id. */
  readonly messageId: string;
  /** Whose turn it is. */
  readonly participant: string;
  readonly language: string | undefined;
  /** The part of the answer that an earlier worker has sent. Sentences are numbered on from it. */
  readonly said: { readonly texts: readonly string[]; readonly asides: number };
  /** The participant spoke over the answer. */
  readonly onInterrupted: () => void;
  /** An aside was sent as a sentence, and so has taken a number. */
  readonly onAside: () => void;
}

/**
 * Sends one answer to the participants: as speech, if somebody listens; as AssistantSentences, in step with the speech;
 * and as `lk.transcription` for ordinary LiveKit clients (while the answer is spoken, the voice sends that).
 */
export class AnswerOutput {
  readonly #speaker: Speaker;
  readonly #sentences: PacedSentences;
  readonly #transcription: TranscriptionStream;
  readonly #speech: SpokenAnswer | undefined;
  readonly #onAside: () => void;
  #cutFiller: () => void = () => {};
  #isEnded = false;
  /** Whether the speech has got its last words: further text is only shown. */
  #isShownOnly = false;
  /** Whether the speech goes on. If not, text is shown as it comes. */
  #isSpeaking: boolean;
  /** The text that the speech has got, and below it how many of its letters were heard. */
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

  /** Whether the answer began as speech. */
  get isSpoken(): boolean {
    return this.#speech !== undefined;
  }

  write(text: string): void {
    this.#cutFiller();
    this.#speaker.write(text);
  }

  /** Ends the current sentence, whatever its last character is. */
  flush(): void {
    this.#speaker.flush();
    this.#speech?.flush();
  }

  /**
   * Says words that are not part of the answer: they are not stored, and the model is not told. They are spoken if the
   * answer is, else shown as a sentence of their own. Resolves when they have been said or `signal` has cut them off;
   * never rejects.
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

  /** Says something during a wait, by voice only. The answer's next words cut it off. Never rejects. */
  async filler(text: string, signal: AbortSignal): Promise<void> {
    if (!this.#isSpeaking) return;
    const answered = new AbortController();
    this.#cutFiller = () => answered.abort();
    await this.aside(text, AbortSignal.any([signal, answered.signal]));
  }

  /** Resolves when everything that was written so far has been heard, or will not be. */
  async untilHeard(): Promise<void> {
    if (this.#isSpeaking) await this.#speech?.untilHeard();
  }

  /** Adds the worker's own last words. The model is not told of them. */
  conclude(text: string, { isShown }: { readonly isShown: boolean }): void {
    this.#cutFiller();
    this.flush();
    if (this.#isSpeaking) this.#speech?.aside(text);
    this.#isShownOnly = this.#isSpeaking;
    if (isShown) this.#speaker.write(text);
  }

  /** Stops the speech, and shows the rest of the answer instead. */
  silence(): void {
    this.#speech?.silence();
    this.#showRest();
  }

  /** Stops the speech for good, because the turn was aborted. The rest is not shown either. */
  stop(): void {
    this.#speech?.stop();
  }

  /** Sends the final sentence when the speech has ended. Call exactly once. */
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
  /** The id of the message before it. */
  readonly previousId: string;
  readonly participant: string;
  readonly language: string | undefined;
}

/** Shows words of the worker while no turn runs, as an answer that is not stored. Never rejects. */
export async function sayApart(text: string, options: ApartOptions): Promise<void> {
  const { outbox, link, previousId, participant, language } = options;
  const messageId = createId();
  outbox.post({ type: "start_answer", body: { id: messageId, previousId, answerType: "text" } });
  const answer = new AnswerOutput({
    outbox,
    link,
    participant,
    language,
    messageId,
    voice: undefined,
    said: { texts: [], asides: 0 },
    onInterrupted: () => {},
    onAside: () => {},
  });
  answer.write(text);
  await answer.end();
}
