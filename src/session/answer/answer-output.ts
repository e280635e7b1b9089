import type { AnswerProgress } from "../../conversation/turn-record.ts";
import { countLetters, dropLetters } from "../../conversation/truncate-to-played.ts";
import { createId } from "../../lib/id.ts";
import type { Delivery } from "../../tool/calls/call-ports.ts";
import type { Outbox } from "../wire/outbox.ts";
import { PacedSentences } from "./paced-sentences.ts";
import type { RoomLink } from "../room/room-link.ts";
import { sentencesOf, SentenceStream } from "./sentence-stream.ts";
import { TranscriptionStream } from "./transcription-stream.ts";
import type { SpeechEnd, SpokenAnswer, VoicePort } from "../room/voice-port.ts";

interface AnswerOutputOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice: Pick<VoicePort, "open"> | undefined;
  /** The id of the answer's StartAnswer. */
  readonly messageId: string;
  /** The participant whose turn it is. */
  readonly participant: string;
  readonly language: string | undefined;
  /** The part of the answer that an earlier worker stored, and how much of that part was sent and played. */
  readonly earlier?: { readonly texts: readonly string[]; readonly progress: AnswerProgress } | undefined;
  /** Called when the participant speaks over the answer. */
  readonly onInterrupted: () => void;
  readonly onProgress: (progress: AnswerProgress) => void;
}

/**
 * Sends one answer to the participants: as speech, if somebody is listening; as AssistantSentences, in step with the
 * speech; and as `lk.transcription` for ordinary LiveKit clients. While the answer is spoken, the voice sends the
 * transcription.
 */
export class AnswerOutput {
  readonly #sentenceStream: SentenceStream;
  readonly #sentences: PacedSentences;
  readonly #transcription: TranscriptionStream;
  readonly #speech: SpokenAnswer | undefined;
  /** The sentences that an earlier worker stored, how many of them it sent, and how many it played in full. */
  readonly #earlier: { readonly sentences: readonly string[]; readonly sent: number; readonly heard: number };
  #cutFiller: () => void = () => {};
  #isEnded = false;
  /** Whether `conclude` has passed its words to the speech. If so, further text is only sent as sentences. */
  #isShownOnly = false;
  /** Whether the speech is still running. If not, text is shown as it is written. */
  #isSpeaking: boolean;
  /** The text passed to `conclude`, which the speech receives separately from the answer's text. */
  #conclusion = "";
  /** The text passed to the speech. */
  #speechText = "";
  /** How many letters of `#speechText` were played. */
  #playedLetters = 0;
  #heardAt: number | undefined;

  constructor(options: AnswerOutputOptions) {
    const { outbox, link, voice, messageId, participant, language, onInterrupted, onProgress } = options;
    const { texts, progress } = options.earlier ?? { texts: [], progress: undefined };
    const sentences = sentencesOf(texts, language);
    const { asides = 0, sent = sentences.length + asides, heard = sentences.length } = progress ?? {};
    this.#earlier = { sentences, sent: sent - asides, heard };
    this.#transcription = new TranscriptionStream(() => link.openTranscription(messageId));
    this.#speech = voice?.open({
      messageId,
      participant,
      language,
      onPlayed: (text) => {
        this.#heardAt ??= Date.now();
        this.#playedLetters += countLetters(text);
        this.#sentences.markPlayed(text);
      },
      onInterrupted,
      onUnspoken: () => this.#showRest(),
    });
    const before = { asides, sent, heard };
    this.#sentences = new PacedSentences({
      before,
      stored: progress ?? (this.#speech ? before : { asides }),
      post: (sentence) => {
        outbox.post({ type: "assistant_sentence", body: { id: createId(), previousId: messageId, ...sentence } });
      },
      onProgress,
    });
    this.#sentenceStream = new SentenceStream(
      { onSentence: (sentence) => this.#sentences.add(sentence), onText: (text) => this.#put(text) },
      { language, hasBegun: sent > 0 },
    );
    this.#isSpeaking = this.#speech !== undefined;
    if (!this.#speech) this.#sentences.release();
  }

  /** When the answer's own text was first heard, in Unix ms. */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  /** Whether the answer started as speech. */
  get isSpoken(): boolean {
    return this.#speech !== undefined;
  }

  /** The part of an earlier worker's text that was played in full. */
  get playedBefore(): string {
    return this.#earlier.sentences.slice(0, this.#earlier.heard).join(" ");
  }

  /**
   * Outputs the stored sentences that an earlier worker did not send. Sentences that were sent but not played in full
   * are spoken again, but not shown again. Call this before `write`.
   */
  sayRest(): void {
    const { sentences, sent, heard } = this.#earlier;
    for (const [index, text] of sentences.entries()) {
      const isSent = index < sent;
      if (index < heard || (isSent && !this.#isSpeaking)) continue;
      if (isSent) this.#sentences.repeat(text);
      else this.#sentences.add({ text, isFinal: false });
      this.#put(`${text} `);
    }
    this.flush();
  }

  write(text: string): void {
    this.#cutFiller();
    this.#sentenceStream.write(text);
  }

  /** Outputs the current sentence without waiting for what follows. Call this if a sentence is known to end here. */
  endSentence(): void {
    this.#sentenceStream.endSentence();
    if (this.#isSpeaking) this.#speech?.endSentence();
  }

  /** Ends the current sentence, even without punctuation. */
  flush(): void {
    this.#sentenceStream.flush();
    this.#speech?.flush();
  }

  /**
   * Outputs an aside: words that are not part of the answer, are not stored and are never seen by the model. The aside
   * is shown as a separate sentence, and spoken if the answer is spoken. Resolves once the aside has been played,
   * shown, or cut off by `signal`. Never rejects.
   */
  async aside(text: string, signal: AbortSignal): Promise<Delivery> {
    if (this.#isEnded || signal.aborted) return "unsaid";
    let isShown = false;
    const sentence = this.#sentences.addAside(text, () => {
      if (this.#isSpeaking) return;
      isShown = true;
      this.#transcription.write(this.#sentenceStream.formatAside(text));
    });
    if (!this.#speech || isShown) return "shown";
    const isPlayed = await this.#speak(this.#speech, { text, onBegun: sentence.markPlayed }, signal);
    sentence.takeBack();
    if (isPlayed) return "heard";
    return isShown ? "shown" : "unsaid";
  }

  /** Speaks a filler during a wait, without showing it. The answer's next words cut the filler off. Never rejects. */
  async filler(text: string, signal: AbortSignal): Promise<void> {
    if (!this.#speech || !this.#isSpeaking || this.#isEnded || signal.aborted) return;
    const answered = new AbortController();
    this.#cutFiller = () => answered.abort();
    await this.#speak(this.#speech, { text }, AbortSignal.any([signal, answered.signal]));
  }

  /** Lets the agent be heard thinking until the signal aborts. */
  think(signal: AbortSignal): void {
    if (this.#isSpeaking) this.#speech?.think(signal);
  }

  /** Speaks an aside. Resolves to whether it was played in full. */
  #speak(speech: SpokenAnswer, said: Parameters<SpokenAnswer["aside"]>[0], signal: AbortSignal): Promise<boolean> {
    const aside = speech.aside(said);
    const cut = () => aside.cut();
    signal.addEventListener("abort", cut, { once: true });
    void aside.spoken.then(() => signal.removeEventListener("abort", cut));
    return aside.spoken;
  }

  /** Resolves once everything written so far has been played or dropped. */
  async untilPlayed(): Promise<void> {
    if (this.#isSpeaking) await this.#speech?.untilPlayed();
  }

  /** Adds the worker's own closing words. The model never sees them. */
  conclude(text: string): void {
    this.#cutFiller();
    this.flush();
    if (this.#isSpeaking) {
      this.#speech?.aside({ text });
      this.#conclusion = ` ${text}`;
    }
    this.#isShownOnly = this.#isSpeaking;
    this.#sentenceStream.write(text);
  }

  /** Stops the speech and shows the rest of the answer instead. */
  silence(): void {
    this.#speech?.silence();
    this.#showRest();
  }

  /** Stops the speech because the turn was aborted. The rest of the answer is not shown either. */
  stop(): void {
    this.#speech?.stop();
  }

  /** Waits for the speech to end and sends the final sentence. Call exactly once. */
  async end(): Promise<SpeechEnd> {
    this.#isEnded = true;
    this.#cutFiller();
    this.#sentenceStream.end();
    const end = await (this.#speech?.end() ?? { heard: undefined });
    if (end.heard === undefined) this.#sentences.release();
    else this.#sentences.drop();
    this.#transcription.close();
    return end;
  }

  #put(text: string): void {
    if (this.#isShownOnly) return;
    if (!this.#isSpeaking) return this.#transcription.write(text);
    this.#speechText += text;
    this.#speech?.write(text);
  }

  #showRest(): void {
    if (!this.#isSpeaking) return;
    this.#isSpeaking = false;
    this.#transcription.write(dropLetters(this.#speechText, this.#playedLetters));
    this.#sentences.release();
    this.#transcription.write(this.#conclusion);
  }
}

interface OutsideTurnOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** The id of the preceding message. */
  readonly previousId: string;
  readonly participant: string;
  readonly language: string | undefined;
}

/** Shows the worker's own words while no turn is running, as an answer that is not stored. Never rejects. */
export async function showOutsideTurn(text: string, options: OutsideTurnOptions): Promise<"shown"> {
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
    onInterrupted: () => {},
    onProgress: () => {},
  });
  answer.write(text);
  await answer.end();
  return "shown";
}
