import { EventEmitter } from "node:events";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import { type llm, stt, type VADEvent, VADEventType, voice } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import type { RoomListener } from "../../../src/voice/listen/room-listener.ts";
import { SILENCE_DELAY_MS } from "../../../src/voice/listen/voice-activity.ts";
import type { SpeechPlayer } from "../../../src/voice/speak/speech-player.ts";
import type { VoiceSettings } from "../../../src/voice/voice-settings.ts";

const { UserInputTranscribed, UserStateChanged, EotPrediction } = voice.AgentSessionEventTypes;
const STEP_MS = 50;

interface FakeAgentSessionOptions {
  readonly settings: VoiceSettings;
  readonly listener: () => RoomListener;
  readonly player: () => SpeechPlayer;
  /** Called when the participant's turn was dropped. The recognizer's stream must then be replaced. */
  readonly onCleared: () => void;
  /** Called with each piece of sound once it has been heard in full. */
  readonly onHeard: (frame: AudioFrame) => void;
  /** Called when the first sound of a reply is heard. */
  readonly onSound: () => void;
}

class Handle {
  allowInterruptions: boolean;
  interrupted = false;
  readonly done = Promise.withResolvers<void>();
  readonly #interrupted = Promise.withResolvers<undefined>();

  constructor(allowInterruptions: boolean) {
    this.allowInterruptions = allowInterruptions;
  }

  get untilInterrupted(): Promise<undefined> {
    return this.#interrupted.promise;
  }

  readonly interrupt = (): void => {
    this.interrupted = true;
    this.#interrupted.resolve(undefined);
  };

  readonly waitForPlayout = () => this.done.promise;

  readonly waitIfNotInterrupted = async (all: readonly Promise<unknown>[]): Promise<void> => {
    await Promise.race([Promise.all(all), this.#interrupted.promise]);
  };
}

/**
 * LiveKit's AgentSession without sound, room and model: it plays replies at their pace, pauses them when a participant
 * speaks, interrupts them when there are words, and judges when a turn ends. Follows @livekit/agents 1.9.0.
 */
export class FakeAgentSession extends EventEmitter {
  userState: "listening" | "speaking" = "listening";
  readonly history = { truncate: () => {} };
  readonly currentAgent = { updateChatCtx: async () => {} };
  /** What `resumeSpeech` reads. */
  readonly activity: { pausedSpeech: { readonly handle: Handle; readonly timeoutMs: number } | undefined } & {
    readonly startFalseInterruptionTimer: (ms: number) => void;
  } = { pausedSpeech: undefined, startFalseInterruptionTimer: (ms) => this.#resumeAfter(ms) };
  readonly #options: FakeAgentSessionOptions;
  #current: Handle | undefined;
  #isSounding = false;
  #playedSeconds = 0;
  #resumed = Promise.withResolvers<void>();
  #resuming: NodeJS.Timeout | undefined;
  #transcript = "";
  #lastSoundAt = 0;
  /** Changes when a judgment no longer counts. */
  #judgment = 0;
  #isJudging = false;

  constructor(options: FakeAgentSessionOptions) {
    super();
    this.#options = options;
  }

  get playedSeconds(): number {
    return this.#playedSeconds;
  }

  /** Whether the participant has said words that do not belong to a complete turn yet. */
  get hasOpenWords(): boolean {
    return this.#transcript !== "";
  }

  /** Whether the agent can be heard now. */
  get isSounding(): boolean {
    return this.#isSounding && this.activity.pausedSpeech === undefined;
  }

  generateReply({ allowInterruptions }: { readonly allowInterruptions: boolean }): Handle {
    const handle = new Handle(allowInterruptions);
    this.#current = handle;
    void Promise.resolve().then(() => this.#play(handle));
    return handle;
  }

  clearUserTurn(): void {
    this.#transcript = "";
    this.#cancelJudgment();
    this.#options.onCleared();
  }

  /** Receives the events of the voice activity detection. */
  handleActivity(event: VADEvent): void {
    if (event.type === VADEventType.START_OF_SPEECH) this.#handleSpeech();
    else if (event.type === VADEventType.END_OF_SPEECH) this.#handleSilence(event);
    else if (event.speaking && event.speechDuration >= this.#options.settings.interruptAfterMs) this.#pause();
  }

  /** Receives the events of the recognizer. */
  handleRecognized(event: stt.SpeechEvent): void {
    if (!this.#options.listener().mayPass(event)) return;
    const { text = "" } = event.alternatives?.[0] ?? {};
    const isFinal = event.type === stt.SpeechEventType.FINAL_TRANSCRIPT;
    if (text === "" || (!isFinal && event.type !== stt.SpeechEventType.INTERIM_TRANSCRIPT)) return;
    this.emit(UserInputTranscribed, { transcript: text, isFinal, language: "en" });
    if (!isFinal) return;
    this.#interrupt();
    this.#transcript = `${this.#transcript} ${text}`.trim();
    if (this.userState === "listening") void this.#judge();
  }

  async #play(handle: Handle): Promise<void> {
    const player = this.#options.player();
    this.#playedSeconds = 0;
    const reader = player.synthesize(player.nextText() as ReadableStream<string> & AsyncIterable<string>).getReader();
    for (;;) {
      const next = await Promise.race([reader.read(), handle.untilInterrupted]);
      if (!next || next.done || handle.interrupted) break;
      if (!this.#isSounding && handle.allowInterruptions && this.userState === "speaking") this.#pause(0);
      await this.#playFrame(next.value, handle);
      if (!handle.interrupted) this.#options.onHeard(next.value);
    }
    void reader.cancel().catch(() => {});
    this.#isSounding = false;
    if (this.activity.pausedSpeech?.handle === handle) this.activity.pausedSpeech = undefined;
    player.handlePlaybackFinished({ playbackPosition: this.#playedSeconds, interrupted: handle.interrupted });
    if (this.#current === handle) this.#current = undefined;
    handle.done.resolve();
  }

  async #playFrame(frame: AudioFrame, handle: Handle): Promise<void> {
    let leftMs = (frame.samplesPerChannel / frame.sampleRate) * 1_000;
    while (leftMs > 0 && !handle.interrupted) {
      if (this.activity.pausedSpeech) {
        await Promise.race([this.#resumed.promise, handle.untilInterrupted]);
        continue;
      }
      if (!this.#isSounding) this.#options.onSound();
      this.#isSounding = true;
      const ms = Math.min(leftMs, STEP_MS);
      await sleep(ms);
      leftMs -= ms;
      this.#playedSeconds += ms / 1_000;
    }
  }

  #handleSpeech(): void {
    this.#setUserState("speaking");
    clearTimeout(this.#resuming);
    this.#cancelJudgment();
    if (!this.#isSounding) this.#pause(0);
  }

  #handleSilence({ silenceDuration }: VADEvent): void {
    this.#lastSoundAt = Date.now() - silenceDuration;
    this.#setUserState("listening");
    const { pausedSpeech } = this.activity;
    if (pausedSpeech) this.#resumeAfter(pausedSpeech.timeoutMs);
    if (this.#transcript !== "") void this.#judge();
  }

  #setUserState(newState: "listening" | "speaking"): void {
    this.userState = newState;
    this.emit(UserStateChanged, { newState });
  }

  #pause(timeoutMs = this.#options.settings.resumeAfterMs): void {
    const handle = this.#current;
    if (!handle || handle.interrupted || !handle.allowInterruptions) return;
    clearTimeout(this.#resuming);
    if (!this.activity.pausedSpeech) this.#resumed = Promise.withResolvers();
    this.activity.pausedSpeech = { handle, timeoutMs };
  }

  #resumeAfter(ms: number): void {
    clearTimeout(this.#resuming);
    this.#resuming = setTimeout(() => {
      // A turn that is about to end interrupts the speech.
      if (!this.#isJudging) this.#resume();
    }, ms);
  }

  #resume(): void {
    clearTimeout(this.#resuming);
    this.activity.pausedSpeech = undefined;
    this.#resumed.resolve();
  }

  #interrupt(): void {
    if (this.#current?.allowInterruptions) this.#current.interrupt();
    this.#resume();
  }

  #cancelJudgment(): void {
    this.#judgment += 1;
    this.#isJudging = false;
  }

  async #judge(): Promise<void> {
    const { turnEnd, endOfTurn } = this.#options.listener();
    this.#cancelJudgment();
    const judgment = this.#judgment;
    this.#isJudging = true;
    const context = { items: [{ type: "message", textContent: this.#transcript }] } as unknown as llm.ChatContext;
    const threshold = await turnEnd.unlikelyThreshold("en");
    const probability = await turnEnd.predictEndOfTurn(context);
    if (judgment !== this.#judgment) return;
    this.emit(EotPrediction, { probability, threshold, delayMs: Date.now() - this.#lastSoundAt });
    const silenceMs = probability < threshold ? endOfTurn.incompleteMs : endOfTurn.completeMs;
    await sleep(Math.max(0, this.#lastSoundAt + silenceMs - SILENCE_DELAY_MS - Date.now()));
    if (judgment !== this.#judgment) return;
    this.#cancelJudgment();
    const said = this.#transcript;
    this.#transcript = "";
    if (this.#current && !this.#current.allowInterruptions) return;
    this.#interrupt();
    this.#options.listener().complete(said);
  }
}
