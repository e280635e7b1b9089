import { stt, type VAD, type VADEvent, VADEventType } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { copyFrame, toAudioFrame } from "../../livekit/audio-frame.ts";
import type { Keyterms } from "../../speech/listen/keyterms.ts";
import type { AskOptions } from "../../speech/speech-model.ts";
import type { DueWords } from "./due-words.ts";
import type { LimitedRecognizer } from "./limited-recognizer.ts";
import { type PieceRecognition, TurnWords } from "./turn-words.ts";

/** How often words are recognized while a participant speaks. */
const INTERIM_EVERY_MS = 500;
/**
 * After this much silence, what was said so far is recognized, so that its words are known when the silence is long
 * enough to end the piece. If the participant continues, that recognition is canceled.
 */
const PREPARE_AFTER_MS = 64;

/**
 * How much sound before the detected speech is recognized, too. The first consonant may be too soft to be detected. The
 * recognizer trims silence itself.
 */
export const LOCAL_LEAD_IN_MS = 400;

/**
 * A recognizer for single utterances that runs on this machine. It may therefore recognize the same audio repeatedly.
 */
export interface LocalRecognizer extends stt.STT {
  /** Like `recognize`. Resolves to undefined if the recognition is optional and was dropped. */
  readonly transcribe: (frames: readonly AudioFrame[], options: AskOptions) => Promise<string | undefined>;
}

export function isLocal(recognizer: stt.STT): recognizer is LocalRecognizer {
  return Reflect.get(recognizer, "transcribe") !== undefined;
}

interface TurnRecognizerOptions {
  readonly recognizer: LocalRecognizer;
  /** Limits the time that a participant waits for the recognizer. */
  readonly limited: LimitedRecognizer;
  readonly vad: VAD;
  readonly due: DueWords;
  /** Whether words are recognized while a participant speaks, and not only at pauses. */
  readonly interims: boolean;
  readonly keyterms: Pick<Keyterms, "correct">;
}

/**
 * Makes a stream out of a recognizer for single utterances that runs on this machine. Its transcripts contain all words
 * of the turn so far, including those of earlier pieces. Replaces LiveKit's `StreamAdapter`, which recognizes each
 * piece alone.
 */
export class TurnRecognizer extends stt.STT {
  readonly label: string;
  readonly words = new TurnWords();
  readonly #options: TurnRecognizerOptions;

  constructor(options: TurnRecognizerOptions) {
    super({ streaming: true, interimResults: options.interims });
    this.label = options.recognizer.label;
    this.#options = options;
  }

  override get model(): string {
    return this.#options.recognizer.model;
  }

  override get provider(): string {
    return this.#options.recognizer.provider;
  }

  override stream(): stt.SpeechStream {
    return new TurnStream(this, this.#options);
  }

  protected override async _recognize(...[frames, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    return this.#options.recognizer.recognize(frames, signal);
  }
}

interface Prepared extends PieceRecognition {
  readonly discard: () => void;
}

class TurnStream extends stt.SpeechStream {
  readonly label: string;
  readonly #turns: TurnRecognizer;
  readonly #options: TurnRecognizerOptions;
  readonly #activity: ReturnType<VAD["stream"]>;
  /** What the participant has been saying since the last pause. */
  #piece: AudioFrame[] | undefined;
  /** The end of the previous piece, as a number of samples. */
  #heardTo = 0;
  /** The recognition of the current piece, if it may be complete. */
  #prepared: Prepared | undefined;
  /** When the next interim words are due. `Infinity` while some are being recognized. */
  #interimAt = Infinity;

  constructor(turns: TurnRecognizer, options: TurnRecognizerOptions) {
    super(turns);
    this.label = turns.label;
    this.#turns = turns;
    this.#options = options;
    this.#activity = options.vad.stream();
  }

  override close(): void {
    super.close();
    this.#activity.close();
    this.#options.due.settle();
  }

  /** Does nothing: nobody counts recognitions. */
  protected override async monitorMetrics(): Promise<void> {}

  protected override async run(): Promise<void> {
    await Promise.all([this.#listen(), this.#followActivity()]);
  }

  async #listen(): Promise<void> {
    for await (const frame of this.input) {
      if (frame === stt.SpeechStream.FLUSH_SENTINEL) this.#activity.flush();
      else this.#activity.pushFrame(frame);
    }
  }

  async #followActivity(): Promise<void> {
    for await (const event of this.#activity) {
      if (event.type === VADEventType.START_OF_SPEECH) this.#begin(event);
      else if (event.type === VADEventType.END_OF_SPEECH) await this.#end(event);
      else if (event.speaking) this.#goOn(event);
    }
  }

  #begin(event: VADEvent): void {
    this.output.put({ type: stt.SpeechEventType.START_OF_SPEECH });
    this.#options.due.begin();
    this.#piece = this.#unheard(event);
    this.#interimAt = this.#options.interims ? performance.now() + INTERIM_EVERY_MS : Infinity;
  }

  #goOn({ frames, rawAccumulatedSilence, rawAccumulatedSpeech }: VADEvent): void {
    const { interims } = this.#options;
    if (!this.#piece) return;
    // The frames are views of a buffer that the VAD overwrites.
    this.#piece.push(...frames.map(copyFrame));
    if (rawAccumulatedSpeech > 0) this.#discardPrepared();
    if (rawAccumulatedSilence >= PREPARE_AFTER_MS) this.#prepared ??= this.#prepare(this.#piece);
    else if (interims && performance.now() >= this.#interimAt) void this.#showInterim(this.#piece);
  }

  #prepare(piece: readonly AudioFrame[]): Prepared {
    const discarded = new AbortController();
    const signal = AbortSignal.any([this.abortSignal, discarded.signal]);
    const recognition = this.#turns.words.prepare(
      [...piece],
      async (frames) => (await this.#transcribe(frames, { signal })) ?? "",
    );
    return { add: recognition.add, discard: () => discarded.abort() };
  }

  #discardPrepared(): void {
    this.#prepared?.discard();
    this.#prepared = undefined;
  }

  async #showInterim(piece: AudioFrame[]): Promise<void> {
    this.#interimAt = Infinity;
    const startedAt = performance.now();
    const options = { signal: this.abortSignal, isOptional: true };
    const recognize = (frames: readonly AudioFrame[]) => this.#transcribe(frames, options);
    const words = await this.#turns.words.peek(piece, recognize).catch(() => undefined);
    if (piece !== this.#piece || this.closed) return;
    this.#interimAt = startedAt + INTERIM_EVERY_MS;
    if (words) this.output.put(toEvent(stt.SpeechEventType.INTERIM_TRANSCRIPT, words));
  }

  async #end(event: VADEvent): Promise<void> {
    const { samplesIndex, silenceDuration, inferenceDuration } = event;
    const prepared = this.#prepared ?? this.#prepare(this.#unheard(event));
    this.#piece = undefined;
    this.#prepared = undefined;
    this.#heardTo = samplesIndex;
    const speechEndTime = Date.now() - silenceDuration - inferenceDuration;
    this.output.put({ type: stt.SpeechEventType.END_OF_SPEECH, speechEndTime });
    try {
      const words = await this.#options.limited.limit(() => prepared.add(), String, this.abortSignal);
      // Without words, too: it tells the listener that the sound was not speech. AgentSession ignores it.
      if (!this.closed) this.output.put({ ...toEvent(stt.SpeechEventType.FINAL_TRANSCRIPT, words), speechEndTime });
    } catch (error) {
      // After the time limit: the words would otherwise be added to a later turn.
      prepared.discard();
      if (this.abortSignal.aborted) return;
      const problem = error instanceof Error ? error : new Error(String(error));
      const details = { type: "stt_error", timestamp: Date.now(), label: this.label } as const;
      this.#turns.emit("error", { ...details, error: problem, recoverable: true });
    }
  }

  /** Returns a piece without the sound that it shares with the previous piece, because it begins before its speech. */
  #unheard({ frames: [sound], samplesIndex }: VADEvent): AudioFrame[] {
    if (!sound) return [];
    const from = samplesIndex - sound.samplesPerChannel;
    // After a flush, samples are counted from 0 again.
    const heard = samplesIndex < this.#heardTo ? 0 : Math.max(0, this.#heardTo - from);
    return [toAudioFrame(sound.data.subarray(heard), sound.sampleRate)];
  }

  async #transcribe(frames: readonly AudioFrame[], options: AskOptions): Promise<string | undefined> {
    const { recognizer, keyterms } = this.#options;
    const text = await recognizer.transcribe(frames, options);
    return text && keyterms.correct(text);
  }
}

function toEvent(type: stt.SpeechEventType, text: string): stt.SpeechEvent {
  const language = "en" as stt.SpeechData["language"];
  return { type, alternatives: [{ text, language, startTime: 0, endTime: 0, confidence: 1 }] };
}
