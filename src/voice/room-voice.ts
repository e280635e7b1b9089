import { type stt, voice } from "@livekit/agents";
import { ParticipantKind, type Room } from "@livekit/rtc-node";
import type { Logger } from "pino";
import { abortable } from "../lib/abortable.ts";
import type { SpeechModelOf } from "../speech/start-model.ts";
import type { OnRoomInput, RoomParticipant } from "../session/room/room-input.ts";
import type { AnswerToSpeak, SpokenAnswer, VoicePort } from "../session/room/voice-port.ts";
import { AgentAudio } from "./speak/agent-audio.ts";
import { AnswerSpeech } from "./speak/answer-speech.ts";
import { startAudioSession, TRANSCRIPT_TIMEOUT_MS, type AudioSession } from "./audio-session.ts";
import { LimitedRecognizer } from "./listen/limited-recognizer.ts";
import { PreConnectAudio } from "./listen/pre-connect-audio.ts";
import { Microphones } from "./listen/microphones.ts";
import { UnrecognizedSpeech } from "./listen/unrecognized-speech.ts";
import { AwaitedPlayer, type Player } from "./speak/player.ts";
import { PreparedSynthesizer } from "./speak/prepared-synthesizer.ts";
import type { Synthesizer } from "./providers/synthesizer.ts";
import { SpeakerStreams } from "./listen/speaker-streams.ts";
import { SpokenTime } from "./listen/spoken-time.ts";
import { Quiet, UserSpeech } from "./listen/user-speech.ts";
import { isLocal, LOCAL_LEAD_IN_MS, TurnRecognizer } from "./listen/turn-recognizer.ts";
import type { TurnWords } from "./listen/turn-words.ts";
import { NOTICED_SILENCE_MS, VoiceActivity } from "./listen/voice-activity.ts";
import { toSpeakable } from "./speak/speakable.ts";
import { SpokenPart } from "./speak/spoken-part.ts";
import { TurnEnd } from "./listen/turn-end.ts";
import { type EndOfTurn, endOfTurnOf, type VoiceSettings } from "./voice-settings.ts";

export interface RoomVoiceOptions {
  readonly room: Room;
  /** Undefined: the agent listens to nobody and subscribes to no microphones. */
  readonly stt: stt.STT | undefined;
  /** Undefined: the agent does not speak and publishes no track. */
  readonly synthesizer: Synthesizer | undefined;
  /** Returns the name of the current agent's voice. */
  readonly voiceName: () => string | undefined;
  readonly settings: VoiceSettings;
  /** Judges by the sound whether a participant has finished. */
  readonly endOfTurnModel: SpeechModelOf<"endOfTurn"> | undefined;
  /** Receives what participants say, as `transcript` and `utterance`. */
  readonly take: OnRoomInput;
  /** Called when the agent's audio starts or stops. */
  readonly onSpeaking: (isSpeaking: boolean) => void;
  readonly logger: Logger;
}

const HAND_ON_AFTER_MS = 1_500;

/**
 * The voice of a room. Its AgentSession starts when the first participant subscribes to the agent's track or publishes
 * a microphone. If all participants only read and write, the agent just publishes a silent track.
 */
export class RoomVoice implements VoicePort {
  readonly #options: RoomVoiceOptions;
  readonly #audio: AgentAudio | undefined;
  readonly #microphones: Microphones | undefined;
  readonly #preConnectAudio: PreConnectAudio | undefined;
  readonly #speech: UserSpeech;
  readonly #recognizer: stt.STT | undefined;
  /**
   * Set for a streaming recognizer. Any other recognizer is called once per utterance, and the agent listens to nobody
   * else in the meantime.
   */
  readonly #speakers: SpeakerStreams | undefined;
  /** The words of the current turn. Set for a recognizer that runs on this machine. */
  readonly #turns: TurnWords | undefined;
  readonly #endOfTurn: EndOfTurn;
  readonly #turnEnd: TurnEnd | undefined;
  readonly #synthesizer: PreparedSynthesizer | undefined;
  readonly #unrecognized = new UnrecognizedSpeech(() => this.#sayNotUnderstood());
  #started: Promise<void> | undefined;
  #session: AudioSession | undefined;
  #speaker: string | undefined;
  #isInterruptible = true;
  readonly #quiet = new Quiet(TRANSCRIPT_TIMEOUT_MS);
  readonly #spoken: SpokenTime;
  #isClosed = false;
  /** Whether the AgentSession could not be started, or has ended. */
  #hasEnded = false;

  /** Must be called before the room is connected. */
  constructor(options: RoomVoiceOptions) {
    this.#options = options;
    const { room, synthesizer, stt: recognizer, settings, take } = options;
    this.#endOfTurn = endOfTurnOf(settings, options.endOfTurnModel !== undefined);
    const onNeeded = () => {
      synthesizer?.warm?.();
      void this.#start();
    };
    this.#synthesizer = synthesizer && new PreparedSynthesizer(synthesizer);
    this.#audio = synthesizer && new AgentAudio({ room, onListener: onNeeded });
    this.#microphones =
      recognizer &&
      new Microphones({ room, onSpeaker: (identity) => this.#listenTo(identity), isBusy: () => this.#isHearing });
    this.#preConnectAudio = recognizer && new PreConnectAudio(room, options.logger);
    this.#recognizer = recognizer && this.#adapt(recognizer);
    const turns = this.#recognizer instanceof TurnRecognizer ? this.#recognizer.words : undefined;
    this.#turns = turns;
    this.#turnEnd = this.#createTurnEnd();
    this.#speakers = recognizer?.capabilities.streaming ? new SpeakerStreams() : undefined;
    const giveUpAfterMs = this.#endOfTurn.incompleteMs + HAND_ON_AFTER_MS;
    this.#spoken = new SpokenTime({ silenceMs: NOTICED_SILENCE_MS, giveUpAfterMs });
    this.#speech = new UserSpeech({
      take,
      spoken: () => this.#spoken.take(),
      speaker: () => this.#participant(),
      isHeldBack: () => this.#session?.player.isHeldBack ?? false,
      isSpeaking: () => this.#isUserSpeaking,
      giveUpAfterMs,
      onComplete: turns && (() => turns.clear()),
    });
  }

  get isTwoWay(): boolean {
    return this.listens && this.speaks;
  }

  get listens(): boolean {
    return this.#microphones !== undefined;
  }

  get speaks(): boolean {
    return this.#audio !== undefined;
  }

  /** Call this once the room is connected. */
  start(): void {
    this.#audio?.start();
    this.#microphones?.start();
  }

  open(answer: AnswerToSpeak): SpokenAnswer | undefined {
    this.#microphones?.prefer(answer.participant);
    if (!this.#audio || this.#isClosed || this.#hasEnded) return undefined;
    this.#audio.handlePresence(answer.participant);
    const { hasListener, isExpected, haveAllSubscribed } = this.#audio;
    if (!hasListener && !isExpected) return undefined;
    const playing = hasListener && haveAllSubscribed ? this.#session?.player : undefined;
    const ready = hasListener ? this.#audio.untilAllSubscribed() : undefined;
    const player = playing ?? new AwaitedPlayer(this.#whenPlayerReady(this.#audio, ready));
    return new AnswerSpeech(player, answer, this.#options.voiceName);
  }

  prepare(sentence: string, language: string | undefined): () => void {
    if (!this.#synthesizer || !this.#session || !this.#audio?.hasListener) return () => {};
    const { pronounce } = this.#options.settings;
    return this.#synthesizer.prepare(
      toSpeakable(sentence, { language, pronounce }),
      language,
      this.#options.voiceName(),
    );
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
    this.#quiet.handleRecognized();
    this.#microphones?.close();
    this.#preConnectAudio?.close();
    await this.#started;
    await this.#session?.close();
    await this.#audio?.close();
  }

  get #isUserSpeaking(): boolean {
    return this.#session?.session.userState === "speaking";
  }

  /**
   * Whether a participant is speaking or their words are still due. While this is true, the agent does not switch to
   * another participant, so that the words are not misattributed.
   */
  get #isHearing(): boolean {
    return this.#isUserSpeaking || !this.#quiet.isReached || this.#unrecognized.isAsked;
  }

  /** Waits for a subscription, because a participant may ask something before subscribing to the track. */
  async #whenPlayerReady(audio: AgentAudio, ready: Promise<void> | undefined): Promise<Player | undefined> {
    if (!(await audio.untilListener())) return undefined;
    await ready;
    await this.#started;
    return this.#isClosed ? undefined : this.#session?.player;
  }

  /** A recognizer for single utterances gets a time limit and, if it runs on this machine, hears whole turns. */
  #adapt(recognizer: stt.STT): stt.STT {
    if (recognizer.capabilities.streaming) return recognizer;
    const limited = new LimitedRecognizer(recognizer, this.#unrecognized);
    if (!isLocal(recognizer)) return limited;
    const { interimTranscripts: interims } = this.#options.settings;
    const vad = new VoiceActivity({ endOfTurnMs: this.#endOfTurn.incompleteMs, leadInMs: LOCAL_LEAD_IN_MS });
    return new TurnRecognizer({ recognizer, limited, vad, interims });
  }

  #createTurnEnd(): TurnEnd | undefined {
    const { endOfTurnModel: model, logger } = this.#options;
    const recognizer = this.#recognizer;
    if (!model || !recognizer || !this.#endOfTurn.isJudged) return undefined;
    const settled = async () => (recognizer instanceof TurnRecognizer ? recognizer.settled : undefined);
    return new TurnEnd({ model, settled, logger });
  }

  #listenTo(identity: string | undefined): void {
    const areWordsDue = this.#speech.changeSpeaker(this.#isHearing);
    this.#turns?.fix();
    this.#speaker = identity;
    this.#speakers?.change(this.#participant(), areWordsDue);
    if (identity === undefined) this.#session?.io.unsetParticipant();
    else if (this.#session) this.#session.io.setParticipant(identity);
    else void this.#start();
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
    const { logger } = this.#options;
    const started = await startAudioSession({
      ...this.#options,
      stt: this.#recognizer,
      endOfTurn: this.#endOfTurn,
      turnEnd: this.#turnEnd,
      preConnectAudio: this.#preConnectAudio,
      synthesizer: this.#synthesizer,
      audio: this.#audio,
      speakers: this.#speakers,
      onUserTurn: (text) => {
        this.#speech.complete(text);
        this.#quiet.handleRecognized();
      },
      onProblem: (what, error) => logger.warn({ what, error }, "voice error"),
    });
    const { session, player, io } = started;
    player.setInterruptible(this.#isInterruptible);
    session.on(voice.AgentSessionEventTypes.UserInputTranscribed, ({ transcript, isFinal, language }) => {
      if (transcript.trim() !== "") this.#unrecognized.handleRecognized();
      const speaker = this.#speakers?.speakerOf(transcript);
      this.#speech.take(transcript, { isFinal, language: language ?? undefined, speaker });
    });
    session.on(voice.AgentSessionEventTypes.UserStateChanged, ({ newState }) => {
      if (newState === "speaking") this.#speech.begin();
      for (const each of [this.#quiet, this.#unrecognized, this.#spoken])
        if (newState === "speaking") each.handleSpeech();
        else each.handleSilence();
    });
    session.on(voice.AgentSessionEventTypes.AgentStateChanged, ({ newState }) =>
      this.#options.onSpeaking(newState === "speaking"),
    );
    session.on(voice.AgentSessionEventTypes.UserTranscriptionTimeout, () => this.#unrecognized.handleTimeout());
    session.on(voice.AgentSessionEventTypes.Close, () => {
      if (!this.#isClosed) logger.error("voice ended, continuing in text");
      this.#session = undefined;
      this.#hasEnded = true;
    });
    if (this.#speaker !== undefined) io.setParticipant(this.#speaker);
    this.#session = started;
    this.#microphones?.open();
  }

  /**
   * Says the `notUnderstood` message, which belongs to no turn or answer: it is not stored, and the model does not see
   * it.
   */
  #sayNotUnderstood(): void {
    const { notUnderstood } = this.#options.settings;
    if (notUnderstood === "" || !this.#session || !this.#audio?.hasListener || this.#session.player.isPlaying) return;
    const voiceName = this.#options.voiceName();
    const part = new SpokenPart({ kind: "aside", language: undefined, voice: voiceName, onPlayed: () => {} });
    part.write(notUnderstood);
    part.end();
    this.#session.player.play(part);
  }

  #participant(): RoomParticipant | undefined {
    const participant = this.#options.room.remoteParticipants.get(this.#speaker ?? "");
    if (!participant) return undefined;
    const { identity, sid = "", kind } = participant;
    return { identity, sid, isSip: kind === ParticipantKind.SIP };
  }
}
