import type { AnswerProgress } from "../../conversation/turn-record.ts";
import { countLetters, dropLetters } from "../../conversation/heard.ts";
import { createId } from "../../lib/id.ts";
import type { Said } from "../../tool/calls/call-ports.ts";
import type { Outbox } from "../wire/outbox.ts";
import { PacedSentences } from "./paced-sentences.ts";
import type { RoomLink } from "../room/room-link.ts";
import { sentencesOf, Speaker } from "./speaker.ts";
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
  /** What an earlier worker has stored of the answer's text, and how much of it it has said. */
  readonly earlier?: { readonly texts: readonly string[]; readonly progress: AnswerProgress } | undefined;
  /** The participant spoke over the answer. */
  readonly onInterrupted: () => void;
  readonly onProgress: (progress: AnswerProgress) => void;
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
  /** The sentences of an earlier worker, those of them that it has sent, and those that were heard in full. */
  readonly #earlier: { readonly sentences: readonly string[]; readonly sent: number; readonly heard: number };
  #cutFiller: () => void = () => {};
  #isEnded = false;
  /** Whether the speech has got its last words: further text is only shown. */
  #isShownOnly = false;
  /** Whether the speech goes on. If not, text is shown as it comes. */
  #isSpeaking: boolean;
  /** The worker's last words, which the speech has got apart from the answer's text. */
  #conclusion = "";
  /** The text that the speech has got, and below it how many of its letters were heard. */
  #given = "";
  #heard = 0;

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
      onHeard: (text) => {
        this.#heard += countLetters(text);
        this.#sentences.hear(text);
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
    this.#speaker = new Speaker(
      { onSentence: (sentence) => this.#sentences.add(sentence), onText: (text) => this.#put(text) },
      { language, hasBegun: sent > 0 },
    );
    this.#isSpeaking = this.#speech !== undefined;
    if (!this.#speech) this.#sentences.release();
  }

  /** Whether the answer began as speech. */
  get isSpoken(): boolean {
    return this.#speech !== undefined;
  }

  /** What was heard in full of an earlier worker's words. */
  get heardBefore(): string {
    return this.#earlier.sentences.slice(0, this.#earlier.heard).join(" ");
  }

  /**
   * Says the stored words that an earlier worker has not sent. Those of which the sound was cut off are spoken again, but
   * not shown again. Call it before `write`.
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
    this.#speaker.write(text);
  }

  /** Ends the current sentence, whatever its last character is. */
  flush(): void {
    this.#speaker.flush();
    this.#speech?.flush();
  }

  /**
   * Says words that are not part of the answer: they are not stored, and the model is not told. They are shown as a
   * sentence of their own, and spoken if the answer is. Resolves once they have been said or `signal` has cut them off;
   * never rejects.
   */
  async aside(text: string, signal: AbortSignal): Promise<Said> {
    if (this.#isEnded || signal.aborted) return "unsaid";
    let isShown = false;
    const sentence = this.#sentences.addAside(text, () => {
      if (this.#isSpeaking) return;
      isShown = true;
      this.#transcription.write(this.#speaker.besides(text));
    });
    if (!this.#speech || isShown) return "shown";
    const isHeard = await this.#speak(this.#speech, { text, onBegun: sentence.hear }, signal);
    sentence.takeBack();
    if (isHeard) return "heard";
    return isShown ? "shown" : "unsaid";
  }

  /** Says something during a wait, by voice only. The answer's next words cut it off. Never rejects. */
  async filler(text: string, signal: AbortSignal): Promise<void> {
    if (!this.#speech || !this.#isSpeaking || this.#isEnded || signal.aborted) return;
    const answered = new AbortController();
    this.#cutFiller = () => answered.abort();
    await this.#speak(this.#speech, { text }, AbortSignal.any([signal, answered.signal]));
  }

  /** Returns whether the aside was heard in full. */
  #speak(speech: SpokenAnswer, said: Parameters<SpokenAnswer["aside"]>[0], signal: AbortSignal): Promise<boolean> {
    const aside = speech.aside(said);
    const cut = () => aside.cut();
    signal.addEventListener("abort", cut, { once: true });
    void aside.spoken.then(() => signal.removeEventListener("abort", cut));
    return aside.spoken;
  }

  /** Resolves when everything that was written so far has been heard, or will not be. */
  async untilHeard(): Promise<void> {
    if (this.#isSpeaking) await this.#speech?.untilHeard();
  }

  /** Adds the worker's own last words. The model is not told of them. */
  conclude(text: string): void {
    this.#cutFiller();
    this.flush();
    if (this.#isSpeaking) {
      this.#speech?.aside({ text });
      this.#conclusion = ` ${text}`;
    }
    this.#isShownOnly = this.#isSpeaking;
    this.#speaker.write(text);
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
    this.#transcription.write(dropLetters(this.#given, this.#heard));
    this.#sentences.release();
    this.#transcription.write(this.#conclusion);
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
export async function sayApart(text: string, options: ApartOptions): Promise<"shown"> {
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
