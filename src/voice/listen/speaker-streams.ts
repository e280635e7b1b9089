import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import type { stt } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import type { RoomParticipant } from "../../session/room/room-input.ts";

export type Recognized = stt.SpeechEvent | string;
/** Starts a recognizer for one part of the audio. */
export type OpenRecognizer = (audio: ReadableStream<AudioFrame>) => Promise<ReadableStream<Recognized> | null>;

/** One participant's audio, in a recognizer stream of its own. */
interface Part {
  speaker: RoomParticipant | undefined;
  readonly audio: ReadableStreamDefaultController<AudioFrame>;
  /** Aborted once no more words of this part are expected. */
  readonly ended: AbortController;
  /** Whether the recognizer ended on its own. If so, nobody reads the audio. */
  hasEnded: boolean;
}

interface Words {
  readonly text: string;
  readonly speaker: RoomParticipant | undefined;
}

/**
 * The maximum number of recognized texts to remember until AgentSession passes them on. AgentSession drops some, so
 * they would otherwise accumulate.
 */
const MAX_WORDS = 50;
/** How long a part may still produce words after the agent has started listening to another participant. */
const LATE_MS = 10_000;

/**
 * Attributes the words of a streaming recognizer to participants. If a participant's words are still due when the agent
 * starts listening to another one, a new recognizer stream is opened, so that late words are not attributed to the
 * other participant.
 */
export class SpeakerStreams {
  #speaker: RoomParticipant | undefined;
  #part: Part | undefined;
  #words: Words[] = [];

  /** @param areWordsDue whether the previous participant's last audio has produced no words yet */
  change(speaker: RoomParticipant | undefined, areWordsDue: boolean): void {
    this.#speaker = speaker;
    if (areWordsDue) this.#end(LATE_MS);
    else if (this.#part) this.#part.speaker = speaker;
  }

  /** Returns who said the words that the recognizer has just returned, or `undefined` if unknown. */
  speakerOf(text: string): RoomParticipant | undefined {
    const index = this.#words.findIndex((words) => words.text === text);
    const speaker = this.#words[index]?.speaker;
    this.#words = this.#words.slice(index + 1);
    return speaker;
  }

  recognize(audio: ReadableStream<AudioFrame>, open: OpenRecognizer): ReadableStream<Recognized> {
    if (this.#part?.hasEnded) this.#part = undefined;
    const reader = audio.getReader();
    const pump = async (output: ReadableStreamDefaultController<Recognized>) => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        this.#part ??= this.#begin(output, open);
        if (!this.#part.hasEnded) this.#part.audio.enqueue(next.value);
      }
      this.#end(LATE_MS);
    };
    return new ReadableStream<Recognized>({
      start: (output) => void pump(output).catch((error: unknown) => output.error(error)),
      cancel: async () => {
        this.#end(0);
        await reader.cancel();
      },
    });
  }

  #begin(output: ReadableStreamDefaultController<Recognized>, open: OpenRecognizer): Part {
    let controller: ReadableStreamDefaultController<AudioFrame> | undefined;
    const audio = new ReadableStream<AudioFrame>({ start: (own) => void (controller = own) });
    if (!controller) throw new TypeError("ReadableStream did not call start synchronously");
    const part: Part = { speaker: this.#speaker, audio: controller, ended: new AbortController(), hasEnded: false };
    void this.#read(part, output, open(audio)).catch((error: unknown) => part === this.#part && output.error(error));
    return part;
  }

  async #read(
    part: Part,
    output: ReadableStreamDefaultController<Recognized>,
    opening: ReturnType<OpenRecognizer>,
  ): Promise<void> {
    const reader = (await opening)?.getReader();
    if (!reader) return output.close();
    part.ended.signal.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
    if (part.ended.signal.aborted) await reader.cancel();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (part.ended.signal.aborted) return;
      this.#note(next.value, part.speaker);
      output.enqueue(next.value);
    }
    if (part !== this.#part) return;
    // The recognizer ended on its own.
    part.hasEnded = true;
    output.close();
  }

  #note(recognized: Recognized, speaker: RoomParticipant | undefined): void {
    const text = typeof recognized === "string" ? recognized : recognized.alternatives?.[0].text;
    if (text) this.#words = [...this.#words, { text, speaker }].slice(-MAX_WORDS);
  }

  #end(lateMs: number): void {
    const part = this.#part;
    this.#part = undefined;
    if (!part) return;
    part.audio.close();
    if (lateMs === 0) part.ended.abort();
    else setTimeout(() => part.ended.abort(), lateMs).unref();
  }
}
