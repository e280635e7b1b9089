import { voice } from "@livekit/agents";
import type { Room } from "@livekit/rtc-node";
import type { Logger } from "pino";
import type { ThinkingSetting } from "../agent/thinking.ts";
import type { OnRoomInput } from "../session/room/room-input.ts";
import type { AnswerToSpeak, SpokenAnswer, VoicePort } from "../session/room/voice-port.ts";
import { AgentAudio } from "./speak/agent-audio.ts";
import { AnswerSpeech } from "./speak/answer-speech.ts";
import { type AudioSession, startAudioSession } from "./audio-session.ts";
import { RoomListener, type RoomListenerOptions } from "./listen/room-listener.ts";
import { AwaitedPlayer, type Player } from "./speak/player.ts";
import { PreparedSynthesizer } from "./speak/prepared-synthesizer.ts";
import type { SessionSpeech } from "./plugins/session-speech.ts";
import type { Synthesizer, VoiceChoice } from "./providers/synthesizer.ts";
import { SpokenPart } from "./speak/spoken-part.ts";
import { SpokenWords } from "./speak/spoken-words.ts";
import { Thinking } from "./speak/thinking.ts";
import type { VoiceSettings } from "./voice-settings.ts";

export interface RoomVoiceOptions extends Pick<RoomListenerOptions, "endOfTurnModel"> {
  readonly room: Room;
  /**
   * Without a recognizer, the agent listens to nobody and subscribes to no microphones. Without a synthesizer, it does
   * not speak and publishes no track.
   */
  readonly speech: SessionSpeech;
  /** Returns the voice of the current agent. @defaultValue the default voice */
  readonly ownVoice: () => VoiceChoice | undefined;
  /** Returns the current agent's `voice.thinking`, if it has one of its own. */
  readonly thinking: () => ThinkingSetting | undefined;
  readonly settings: VoiceSettings;
  /** Receives what participants say, as `transcript` and `utterance`. */
  readonly take: OnRoomInput;
  /** Called when the agent's audio starts or stops. */
  readonly onSpeaking: (isSpeaking: boolean) => void;
  readonly logger: Logger;
}

/**
 * The voice of a room. Its AgentSession starts when the first participant subscribes to the agent's track or publishes
 * a microphone. If all participants only read and write, the agent just publishes a silent track.
 */
export class RoomVoice implements VoicePort {
  readonly #options: RoomVoiceOptions;
  readonly #audio: AgentAudio | undefined;
  readonly #listener: RoomListener | undefined;
  readonly #synthesizer: PreparedSynthesizer | undefined;
  readonly #thinking: Thinking | undefined;
  readonly #words: SpokenWords;
  #started: Promise<void> | undefined;
  #session: AudioSession | undefined;
  #isInterruptible = true;
  #isClosed = false;
  /** Whether the AgentSession could not be started, or has ended. */
  #hasEnded = false;

  /** Must be called before the room is connected. */
  constructor(options: RoomVoiceOptions) {
    this.#options = options;
    const { room, speech, settings, logger } = options;
    const { synthesizer } = speech;
    this.#words = new SpokenWords({
      ...settings,
      onProblem: (error) => logger.warn({ what: "voice.speakable failed", error }, "voice error"),
    });
    this.#synthesizer = synthesizer && new PreparedSynthesizer(synthesizer);
    this.#audio =
      synthesizer &&
      new AgentAudio({
        room,
        onListener: () => {
          synthesizer.warm?.();
          void this.#start();
        },
      });
    this.#thinking = this.#audio && synthesizer && this.#createThinking(this.#audio, synthesizer);
    this.#listener =
      (speech.listens || undefined) &&
      new RoomListener({
        ...options,
        isHeldBack: () => this.#session?.player.isHeldBack ?? false,
        isTelling: () => this.#session?.player.isTelling ?? false,
        onSpeaker: () => void this.#start(),
        onNotUnderstood: () => this.#sayNotUnderstood(),
      });
  }

  get isTwoWay(): boolean {
    return this.listens && this.speaks;
  }

  get listens(): boolean {
    return this.#listener !== undefined;
  }

  get speaks(): boolean {
    return this.#audio !== undefined;
  }

  get hasManualTurns(): boolean {
    return this.listens && this.#options.settings.turns === "manual";
  }

  /** Call this once the room is connected. */
  start(): void {
    this.#audio?.start();
    void this.#thinking?.prepare({ language: undefined, voice: this.#options.ownVoice() });
    this.#listener?.start();
  }

  open(answer: AnswerToSpeak): SpokenAnswer | undefined {
    this.#listener?.prefer(answer.participant);
    if (!this.#audio || this.#isClosed || this.#hasEnded) return undefined;
    this.#audio.handlePresence(answer.participant);
    const { hasListener, isExpected, haveAllSubscribed } = this.#audio;
    if (!hasListener && !isExpected) return undefined;
    const playing = hasListener && haveAllSubscribed ? this.#session?.player : undefined;
    const ready = hasListener ? this.#audio.untilAllSubscribed() : undefined;
    const player = playing ?? new AwaitedPlayer(this.#whenPlayerReady(this.#audio, ready));
    return new AnswerSpeech(player, answer, {
      voiceName: this.#options.ownVoice,
      thinking: this.#thinking,
      untilUttered: () => (this.#isInterruptible ? this.#listener?.untilUttered() : undefined),
    });
  }

  prepare(sentence: string, language: string | undefined): () => void {
    const synthesizer = this.#synthesizer;
    if (!synthesizer || !this.#session || !this.#audio?.hasListener) return () => {};
    let discard: (() => void) | undefined = () => {};
    void this.#words.rewrite(sentence, language).then((words) => {
      discard &&= synthesizer.prepare(words, language, this.#options.ownVoice());
    });
    return () => {
      discard?.();
      discard = undefined;
    };
  }

  async untilQuiet(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#listener?.untilQuiet(signal);
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#isInterruptible = isInterruptible;
    this.#session?.player.setInterruptible(isInterruptible);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener?.close();
    await this.#started;
    await this.#session?.close();
    await this.#thinking?.close();
    await this.#audio?.close();
    await this.#options.speech.close();
  }

  #createThinking({ output }: AgentAudio, synthesizer: Synthesizer): Thinking {
    const { room, settings, thinking: ofAgent, logger } = this.#options;
    const thinking = new Thinking({
      room,
      synthesizer,
      words: this.#words,
      setting: () => ofAgent() ?? settings.thinking,
      isUserSpeaking: () => this.#session?.session.userState === "speaking",
      onProblem: (error) => logger.warn({ what: "thinking sound failed", error }, "voice error"),
    });
    // Emitted directly before the first sound of each part.
    output.on(voice.AudioOutput.EVENT_PLAYBACK_STARTED, () => thinking.stop());
    return thinking;
  }

  /** Waits for a subscription, because a participant may ask something before subscribing to the track. */
  async #whenPlayerReady(audio: AgentAudio, ready: Promise<void> | undefined): Promise<Player | undefined> {
    if (!(await audio.untilListener())) return undefined;
    await ready;
    await this.#started;
    return this.#isClosed ? undefined : this.#session?.player;
  }

  #start(): Promise<void> {
    this.#started ??= this.#startSession().catch((error: unknown) => {
      this.#hasEnded = true;
      this.#options.logger.error({ error }, "voice start failed");
    });
    return this.#started;
  }

  async #startSession(): Promise<void> {
    if (this.#isClosed) return;
    const { logger, speech } = this.#options;
    const recognizer = this.#listener && (await speech.openRecognizer());
    if (this.#isClosed) return;
    if (recognizer) this.#listener?.use(recognizer);
    const listener = recognizer && this.#listener;
    const started = await startAudioSession({
      ...this.#options,
      synthesizer: this.#synthesizer,
      words: this.#words,
      audio: this.#audio,
      listener,
      onProblem: (what, error) => logger.warn({ what, error }, "voice error"),
    });
    const { session, player } = started;
    player.setInterruptible(this.#isInterruptible);
    session.on(voice.AgentSessionEventTypes.AgentStateChanged, ({ newState }) =>
      this.#options.onSpeaking(newState === "speaking"),
    );
    session.on(voice.AgentSessionEventTypes.UserStateChanged, ({ newState }) => {
      if (newState === "speaking") this.#thinking?.stop();
    });
    session.on(voice.AgentSessionEventTypes.Close, () => {
      if (!this.#isClosed) logger.error("voice ended, continuing in text");
      this.#session = undefined;
      this.#hasEnded = true;
    });
    this.#session = started;
    listener?.open(started);
  }

  /**
   * Says the `notUnderstood` message, which belongs to no turn or answer: it is not stored, and the model does not see
   * it.
   */
  #sayNotUnderstood(): void {
    const { notUnderstood } = this.#options.settings;
    if (notUnderstood === "" || !this.#session || !this.#audio?.hasListener || this.#session.player.isPlaying) return;
    const ownVoice = this.#options.ownVoice();
    const part = new SpokenPart({ kind: "aside", language: undefined, voice: ownVoice, onPlayed: () => {} });
    part.write(notUnderstood);
    part.end();
    this.#session.player.play(part);
  }
}
