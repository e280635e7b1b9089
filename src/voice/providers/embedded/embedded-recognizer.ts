import { resolve } from "node:path";
import { stt } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { MOONSHINE_RATE } from "../../../speech/listen/moonshine.ts";
import { cutAtPauses, trimSilence } from "../../../speech/listen/sound.ts";
import { Transcriber } from "../../../speech/listen/transcriber.ts";
import { fetchSpeechFiles } from "../../../speech/speech-files.ts";
import { toSamples } from "./to-samples.ts";

/** `STT=embedded`: asked once for each utterance, as a cloud's recognizer of single utterances. */
export class EmbeddedRecognizer extends stt.STT {
  readonly label = "embedded.STT";
  readonly #transcriber: Transcriber;

  private constructor(transcriber: Transcriber) {
    super({ streaming: false, interimResults: false });
    this.#transcriber = transcriber;
  }

  /**
   * Fetches what is not on the machine yet, and loads the models.
   *
   * @throws {AppError} `unavailable` when something cannot be fetched
   */
  static async load(env: NodeJS.ProcessEnv): Promise<EmbeddedRecognizer> {
    const folder = resolve(env["PARLEY_CACHE_DIR"] || ".cache", "speech");
    await fetchSpeechFiles(folder, (line) => process.stderr.write(`parley: ${line}\n`));
    const transcriber = new Transcriber(folder);
    await transcriber.warm();
    return new EmbeddedRecognizer(transcriber);
  }

  override get model(): string {
    return "moonshine-tiny-en";
  }

  override get provider(): string {
    return "embedded";
  }

  override stream(): stt.SpeechStream {
    throw new TypeError("The embedded recognizer has no streams: AgentSession asks it by utterance");
  }

  override async close(): Promise<void> {
    await this.#transcriber.close();
  }

  protected override async _recognize(...[buffer, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    const frames: AudioFrame[] = Array.isArray(buffer) ? buffer : [buffer];
    const samples = trimSilence(toSamples(frames));
    const texts: string[] = [];
    for (const piece of cutAtPauses(samples)) texts.push(await this.#transcriber.transcribe(piece, signal));
    const text = texts.filter(Boolean).join(" ");
    const endTime = samples.length / MOONSHINE_RATE;
    const found = { text, language: "en", startTime: 0, endTime, confidence: 1 } as stt.SpeechData;
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [found] };
  }
}
