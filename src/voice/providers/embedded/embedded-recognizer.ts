import { stt } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { MOONSHINE_RATE } from "../../../speech/listen/moonshine.ts";
import { cutAtPauses, trimSilence } from "../../../speech/listen/sound.ts";
import type { AskOptions } from "../../../speech/speech-model.ts";
import type { SpeechModelOf } from "../../../speech/start-model.ts";
import type { LocalRecognizer } from "../../listen/turn-recognizer.ts";
import { openModel } from "./open-model.ts";
import { toSamples } from "./to-samples.ts";

/** The recognizer of `STT=embedded`. Like a cloud recognizer for single utterances, it does not stream. */
export class EmbeddedRecognizer extends stt.STT implements LocalRecognizer {
  readonly label = "embedded.STT";
  readonly #moonshine: SpeechModelOf<"listen">;

  private constructor(moonshine: SpeechModelOf<"listen">) {
    super({ streaming: false, interimResults: false });
    this.#moonshine = moonshine;
  }

  /**
   * Downloads missing files and loads the model, unless the worker runs it already.
   *
   * @throws {AppError} `unavailable` if a download fails
   */
  static async load(env: NodeJS.ProcessEnv): Promise<EmbeddedRecognizer> {
    return new EmbeddedRecognizer(await openModel("listen", env));
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
    await this.#moonshine.close();
  }

  async transcribe(frames: readonly AudioFrame[], options: AskOptions): Promise<string | undefined> {
    return this.#transcribe(trimSilence(toSamples(frames)), options);
  }

  protected override async _recognize(...[buffer, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    const samples = trimSilence(toSamples(Array.isArray(buffer) ? buffer : [buffer]));
    const text = (await this.#transcribe(samples, { signal })) ?? "";
    const endTime = samples.length / MOONSHINE_RATE;
    const found = { text, language: "en", startTime: 0, endTime, confidence: 1 } as stt.SpeechData;
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [found] };
  }

  /** Returns undefined if the question is optional and was dropped. */
  async #transcribe(samples: Float32Array, options: AskOptions): Promise<string | undefined> {
    const texts: string[] = [];
    for (const piece of cutAtPauses(samples)) {
      const [text] = await Array.fromAsync(this.#moonshine.ask(piece, options));
      if (text === undefined) return undefined;
      if (text !== "") texts.push(text);
    }
    return texts.join(" ");
  }
}
