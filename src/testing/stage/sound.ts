import { setTimeout as sleep } from "node:timers/promises";
import { initializeLogger } from "@livekit/agents";
import type { Room } from "@livekit/rtc-node";
import { AppError } from "../../errors/app-error.ts";
import { primaryLanguage } from "../../lib/language-tag.ts";
import { EmbeddedVoice } from "../../voice/providers/embedded/embedded-voice.ts";
import { installedSpeech } from "../../voice/providers/embedded/prepare-speech.ts";
import { EspeakSynthesizer, findEspeak } from "../../voice/providers/espeak/espeak-synthesizer.ts";
import type { Speech } from "../../voice/providers/speech-choice.ts";
import type { Synthesizer } from "../../voice/providers/synthesizer.ts";
import { howToInstall } from "../../worker/own-package.ts";
import { Speaker, synthesize } from "./speaker.ts";
import type { StageVoice } from "./stage.ts";
import { FakeRecognizer } from "./fake-recognizer.ts";

const CONNECTED_WITHIN_MS = 15_000;
/**
 * How long the agent must be silent for its answer to count as ended. Longer than the pause between two of its
 * sentences.
 */
const SILENCE_MS = 600;
const GIVE_UP_AFTER_MS = 10_000;
const CHECK_EVERY_MS = 20;

/**
 * The audio of a session. One voice speaks for the participant, and for the agent regardless of its configured voice: the
 * embedded one for English if `@parley/speech` is installed, otherwise espeak-ng. The agent's recognizer is a fake that
 * is given the participant's words.
 */
export class Sound implements StageVoice, AsyncDisposable {
  /** The speech recognition and synthesis of the agent's session. */
  readonly speech: Speech;
  readonly #voice: Synthesizer;
  readonly #recognizer: FakeRecognizer;
  readonly #language: string;
  #speaker: Speaker | undefined;
  /** How much of the agent's sound was received in rooms that the participant has left, in milliseconds. */
  #heardBeforeMs = 0;

  private constructor(voice: Synthesizer, language: string) {
    this.#voice = voice;
    this.#language = language;
    this.#recognizer = new FakeRecognizer({ language, isTalking: () => this.#speaker?.isTalking ?? false });
    this.speech = {
      stt: this.#recognizer,
      synthesizer: voice,
      // Named voices belong to providers, which tests do not use.
      voiceNamed: async () => voice,
      close: () => voice.close(),
    };
  }

  /** @throws {AppError} `invalid_config` without a voice for this language */
  static async open(language = "en"): Promise<Sound> {
    const found = await findEspeak(process.env);
    const espeak = found && new EspeakSynthesizer(found, undefined);
    const isEmbedded = primaryLanguage(language) === "en" && installedSpeech() !== undefined;
    const voice = isEmbedded ? await EmbeddedVoice.load(process.env, espeak) : espeak;
    if (!voice) throw new AppError("invalid_config", `voice: espeak-ng is not installed: ${howToInstall("espeak-ng")}`);
    initializeLogger({ pretty: false, level: process.env["LOG_LEVEL"] ?? "silent" });
    return new Sound(voice, language);
  }

  /**
   * Publishes a microphone for the participant (who must have joined), and subscribes to the agent's sound. Resolves
   * when both ends are subscribed to each other.
   *
   * @param agentRoom the same room from the agent's side
   */
  async enter(room: Room, agentRoom: Room): Promise<void> {
    const speaker = new Speaker(room);
    this.#speaker = speaker;
    await speaker.publish();
    await speaker.untilConnected(CONNECTED_WITHIN_MS);
    const late = AbortSignal.timeout(CONNECTED_WITHIN_MS);
    const identity = room.localParticipant?.identity ?? "";
    const tracks = () => [...(agentRoom.remoteParticipants.get(identity)?.trackPublications.values() ?? [])];
    while (!tracks().some(({ track }) => track)) await sleep(CHECK_EVERY_MS, undefined, { signal: late });
  }

  /** Closes the microphone. Call this before leaving the room. */
  async leave(): Promise<void> {
    const speaker = this.#speaker;
    this.#heardBeforeMs = this.soundMs;
    this.#speaker = undefined;
    await speaker?.close();
  }

  async say(text: string): Promise<void> {
    const speaker = this.#speaker;
    if (!speaker) throw new Error(`The participant is not in the room, so it cannot say ${JSON.stringify(text)}`);
    const speech = await synthesize(this.#voice, text, this.#language);
    this.#recognizer.expect(text);
    await speaker.play(speech);
  }

  get soundMs(): number {
    return this.#heardBeforeMs + (this.#speaker?.heardAt.length ?? 0) * 10;
  }

  async untilSilence(): Promise<void> {
    const heardAt = () => this.#speaker?.heardAt.at(-1) ?? Number.NEGATIVE_INFINITY;
    await until(() => performance.now() - heardAt() > SILENCE_MS);
  }

  async untilSpoken(): Promise<void> {
    const before = this.soundMs;
    await until(() => this.soundMs > before);
    await this.untilSilence();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    await this.speech.close();
  }
}

/** Waits until `isTrue` holds. Gives up after a while without an error, because the turn shows what is missing. */
async function until(isTrue: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  while (!isTrue() && performance.now() < giveUpAt) await sleep(CHECK_EVERY_MS);
}
