import { stt } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { moduleBeside } from "../../../lib/module-beside.ts";
import { MOONSHINE_RATE } from "../../../speech/listen/moonshine.ts";
import { cutAtPauses, trimSilence } from "../../../speech/listen/sound.ts";
import { ModelThread } from "../../../speech/model-thread.ts";
import { prepareSpeech } from "./prepare-speech.ts";
import { toSamples } from "./to-samples.ts";

type MoonshineThread = ModelThread<Float32Array, string>;

/** `STT=embedded`. It is called once per utterance, like a cloud recognizer for single utterances. */
export class EmbeddedRecognizer extends stt.STT {
  readonly label = "embedded.STT";
  readonly #thread: MoonshineThread;

  /** @param thread is closed with this recognizer */
  constructor(thread: MoonshineThread) {
    super({ streaming: false, interimResults: false });
    this.#thread = thread;
  }

  /**
   * Downloads missing files and loads the model.
   *
   * @throws {AppError} `unavailable` if a download fails
   */
  static async load(env: NodeJS.ProcessEnv): Promise<EmbeddedRecognizer> {
    const folder = await prepareSpeech("listen", env);
    return new EmbeddedRecognizer(await startMoonshine(folder));
  }

  override get model(): string {
    return "moonshine-tiny-en";
  }

  override get provider(): string {
    return "embedded";
  }

  override stream(): stt.SpeechStream {
    throw new TypeError("The embedded recognizer does not stream: use recognize()");
  }

  override async close(): Promise<void> {
    await this.#thread.close();
  }

  protected override async _recognize(...[buffer, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    const frames: AudioFrame[] = Array.isArray(buffer) ? buffer : [buffer];
    const samples = trimSilence(toSamples(frames));
    const texts: string[] = [];
    for (const piece of cutAtPauses(samples)) texts.push(await this.#thread.ask(piece, [piece.buffer], signal));
    const text = texts.filter(Boolean).join(" ");
    const endTime = samples.length / MOONSHINE_RATE;
    const found = { text, language: "en", startTime: 0, endTime, confidence: 1 } as stt.SpeechData;
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [found] };
  }
}

/** @param folder contains the parts that `fetchSpeechFiles` downloaded */
export async function startMoonshine(folder: string): Promise<MoonshineThread> {
  const module = moduleBeside(import.meta.url, "../../../speech/listen/moonshine-thread");
  const thread: MoonshineThread = new ModelThread({ name: "the embedded recognizer", module, workerData: folder });
  await thread.warm();
  return thread;
}
