import { type stt, voice } from "@livekit/agents";
import { ParticipantKind, type Room } from "@livekit/rtc-node";
import { type Logger } from "pino";
import { abortable } from "../lib/abortable.ts";
import { type RoomParticipant } from "../session/room-link.ts";
import { type AnswerToSpeak, type SpokenAnswer, type VoiceListener, type VoicePort } from "../session/voice-port.ts";
import { AgentAudio } from "./agent-audio.ts";
import { AnswerSpeech } from "./answer-speech.ts";
import { startAudioSession, TRANSCRIPT_TIMEOUT_MS, type AudioSession } from "./audio-session.ts";
import { Microphones } from "./microphones.ts";
import { Quiet } from "./quiet.ts";
import { type Synthesizer } from "./synthesizer.ts";
import { UserSpeech } from "./user-speech.ts";
import { Utterance } from "./utterance.ts";
import { type VoiceSettings } from "./voice-settings.ts";

export interface RoomVoiceOptions {
  readonly room: Room;
  /** Undefined: nobody is listened to, and no microphone is subscribed to. */
  readonly stt: stt.STT | undefined;
  /** Undefined: nothing is spoken, and no track is published. */
  readonly synthesizer: Synthesizer | undefined;
  readonly settings: VoiceSettings;
  readonly listener: VoiceListener;
  /** The agent's sound begins or ends. */
  readonly onSpeaking: (isSpeaking: boolean) => void;
  readonly logger: Logger;
}

/** Speech shorter than this that nobody understood was hardly meant for us. */
const NOTICED_SPEECH_MS = 1_000;
const HAND_ON_AFTER_MS = 1_500;

/**
 * The voice of a room. Its AgentSession is started when it is first needed: somebody listens to the agent's track, or
 * publishes a microphone. In a room of those who only read and write, nothing but a silent track is there.
 */
export class RoomVoice implements VoicePort {
  readonly #options: RoomVoiceOptions;
  readonly #audio: AgentAudio | undefined;
  readonly #microphones: Microphones | undefined;
  readonly #speech: UserSpeech;
  #started: Promise<void> | undefined;
  #session: AudioSession | undefined;
  #speaker: string | undefined;
  #isInterruptible = true;
  readonly #quiet = new Quiet(TRANSCRIPT_TIMEOUT_MS);
  #isClosed = false;

  /** Make it before the room is connected. */
  constructor(options: RoomVoiceOptions) {
    this.#options = options;
    const { room, synthesizer, stt: ears, settings, listener } = options;
    const onNeeded = () => void this.#start();
    this.#audio = synthesizer && new AgentAudio({ room, onListener: onNeeded });
    this.#microphones =
      ears &&
      new Microphones({ room, onSpeaker: (identity) => this.#listenTo(identity), isBusy: () => this.#isUserSpeaking });
    this.#speech = new UserSpeech({
      listener,
      speaker: () => this.#participant(),
      isHeldBack: () => this.#session?.player.isHeldBack ?? false,
      isSpeaking: () => this.#isUserSpeaking,
      giveUpAfterMs: settings.endOfTurnMs + HAND_ON_AFTER_MS,
    });
  }

  get isTwoWay(): boolean {
    return this.#microphones !== undefined && this.#audio !== undefined;
  }

  /** Call once the room is connected. */
  start(): void {
    this.#audio?.start();
    this.#microphones?.start();
  }

  open(answer: AnswerToSpeak): SpokenAnswer | undefined {
    this.#microphones?.prefer(answer.participant);
    if (!this.#session || !this.#audio?.hasListener || this.#isClosed) return undefined;
    return new AnswerSpeech(this.#session.player, answer);
  }

  async untilQuiet(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await abortable(this.#quiet.reached, signal);
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#isInterruptible = isInterruptible;
    this.#session?.player.setInterruptible(isInterruptible);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#speech.close();
    this.#quiet.noteUnderstood();
    this.#microphones?.close();
    await this.#started;
    await this.#session?.close();
    await this.#audio?.close();
  }

  get #isUserSpeaking(): boolean {
    return this.#session?.session.userState === "speaking";
  }

  #listenTo(identity: string | undefined): void {
    this.#speaker = identity;
    if (identity === undefined) this.#session?.io.unsetParticipant();
    else if (this.#session) this.#session.io.setParticipant(identity);
    else void this.#start();
  }

  #start(): Promise<void> {
    this.#started ??= this.#startSession().catch((error: unknown) => {
      this.#options.logger.error({ error }, "the voice could not be started");
    });
    return this.#started;
  }

  async #startSession(): Promise<void> {
    if (this.#isClosed) return;
    const { logger } = this.#options;
    const started = await startAudioSession({
      ...this.#options,
      audio: this.#audio,
      onUserTurn: (text) => {
        this.#speech.complete(text);
        this.#quiet.noteUnderstood();
      },
      onProblem: (what, error) => logger.warn({ what, error }, "the voice had a problem"),
    });
    const { session, player, io } = started;
    player.setInterruptible(this.#isInterruptible);
    session.on(voice.AgentSessionEventTypes.UserInputTranscribed, ({ transcript, isFinal, language }) =>
      this.#speech.take(transcript, { isFinal, language: language ?? undefined }),
    );
    session.on(voice.AgentSessionEventTypes.UserStateChanged, ({ newState }) => {
      if (newState === "speaking") this.#quiet.noteSpeech();
      else this.#quiet.noteSilence();
    });
    session.on(voice.AgentSessionEventTypes.AgentStateChanged, ({ newState }) =>
      this.#options.onSpeaking(newState === "speaking"),
    );
    session.on(voice.AgentSessionEventTypes.UserTranscriptionTimeout, ({ speechDuration }) => {
      if (speechDuration >= NOTICED_SPEECH_MS) this.#sayNotUnderstood();
    });
    session.on(voice.AgentSessionEventTypes.Close, () => {
      if (!this.#isClosed) logger.error("the voice has ended; the session goes on in text");
      this.#session = undefined;
    });
    if (this.#speaker !== undefined) io.setParticipant(this.#speaker);
    this.#session = started;
    this.#microphones?.open();
  }

  /** Neither a turn nor an answer: the record and the model do not know of it. */
  #sayNotUnderstood(): void {
    const { notUnderstood } = this.#options.settings;
    if (notUnderstood === "" || !this.#session || !this.#audio?.hasListener || this.#session.player.isPlaying) return;
    const utterance = new Utterance({ kind: "aside", language: undefined, onHeard: () => {} });
    utterance.write(notUnderstood);
    utterance.end();
    this.#session.player.play(utterance);
  }

  #participant(): RoomParticipant | undefined {
    const participant = this.#options.room.remoteParticipants.get(this.#speaker ?? "");
    if (!participant) return undefined;
    const { identity, sid = "", kind } = participant;
    return { identity, sid, isSip: kind === ParticipantKind.SIP };
  }
}
