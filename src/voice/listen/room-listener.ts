import type { ReadableStream } from "node:stream/web";
import { stt, type VADEvent, voice } from "@livekit/agents";
import type { AudioFrame, Room, Track } from "@livekit/rtc-node";
import type { Logger } from "pino";
import { abortable } from "../../lib/abortable.ts";
import { type OnRoomInput, type RoomParticipant, toRoomParticipant } from "../../session/room/room-input.ts";
import type { SpokenTimes } from "../../session/room/voice-port.ts";
import { Keyterms } from "../../speech/listen/keyterms.ts";
import type { SpeechModelOf } from "../../speech/start-model.ts";
import { type EndOfTurn, endOfTurnOf, type VoiceSettings } from "../voice-settings.ts";
import { resumeSpeech } from "../../livekit/agent-session.ts";
import { Backchannels } from "./backchannels.ts";
import { DueWords } from "./due-words.ts";
import { LimitedRecognizer } from "./limited-recognizer.ts";
import { ManualTurns } from "./manual-turns.ts";
import { Microphones } from "./microphones.ts";
import { PreConnectAudio } from "./pre-connect-audio.ts";
import { SpeakerStreams } from "./speaker-streams.ts";
import { SpokenTime } from "./spoken-time.ts";
import { TurnEnd } from "./turn-end.ts";
import { isLocal, LOCAL_LEAD_IN_MS, TurnRecognizer } from "./turn-recognizer.ts";
import { UnrecognizedSpeech } from "./unrecognized-speech.ts";
import { Quiet, UserSpeech } from "./user-speech.ts";
import { NOTICED_SILENCE_MS, VoiceActivity } from "./voice-activity.ts";

/** If an utterance has produced no words after this much silence, it counts as not understood. */
export const TRANSCRIPT_TIMEOUT_MS = 2_000;
const HAND_ON_AFTER_MS = 1_500;

export interface RoomListenerOptions {
  readonly room: Room;
  /** Judges by the sound whether a participant has finished. */
  readonly endOfTurnModel: SpeechModelOf<"endOfTurn"> | undefined;
  readonly settings: VoiceSettings;
  /** Receives what participants say, as `transcript` and `utterance`. */
  readonly take: OnRoomInput;
  /** Whether the agent's current speech cannot be interrupted. */
  readonly isHeldBack: () => boolean;
  /** Whether the agent is saying something that is not a question. */
  readonly isTelling: () => boolean;
  /** Called when there is somebody to listen to. */
  readonly onSpeaker: () => void;
  /** Called when a participant said something that was not understood. */
  readonly onNotUnderstood: () => void;
  readonly logger: Logger;
}

/** What the listener needs of the AgentSession. */
interface Listening {
  readonly session: voice.AgentSession;
  readonly io: voice.RoomIO;
}

/** Listens to a room's participants, one at a time, and passes on what they say. */
export class RoomListener {
  /** Undefined until `use` is called. */
  recognizer: stt.STT | undefined;
  /**
   * Set for a streaming recognizer. Any other recognizer is called once per utterance, and the agent listens to nobody
   * else in the meantime.
   */
  speakers: SpeakerStreams | undefined;
  readonly endOfTurn: EndOfTurn;
  readonly turnEnd: TurnEnd;
  readonly #options: RoomListenerOptions;
  readonly #preConnectAudio: PreConnectAudio;
  /** Set if participants start and end their turns themselves. */
  readonly #manual: ManualTurns | undefined;
  readonly #microphones: Microphones;
  readonly #speech: UserSpeech;
  readonly #unrecognized: UnrecognizedSpeech;
  readonly #due = new DueWords();
  readonly #backchannels: Backchannels;
  readonly #quiet = new Quiet(TRANSCRIPT_TIMEOUT_MS);
  readonly #spoken: SpokenTime;
  #listening: Listening | undefined;
  /** The identity of the participant that the agent listens to. */
  #speaker: string | undefined;

  /** Must be called before the room is connected. */
  constructor(options: RoomListenerOptions) {
    this.#options = options;
    const { room, settings, take, isHeldBack, onNotUnderstood, logger } = options;
    this.endOfTurn = endOfTurnOf(settings, options.endOfTurnModel !== undefined);
    this.#backchannels = new Backchannels(settings.backchannels);
    this.#unrecognized = new UnrecognizedSpeech(onNotUnderstood);
    this.#microphones = new Microphones({
      room,
      onSpeaker: (identity) => this.#listenTo(identity),
      isBusy: () => this.#isHearing,
    });
    this.#preConnectAudio = new PreConnectAudio(room, logger);
    this.#manual = settings.turns === "manual" ? this.#createManualTurns() : undefined;
    const model = this.endOfTurn.isJudged ? options.endOfTurnModel : undefined;
    this.turnEnd = new TurnEnd({ model, due: this.#due, manual: this.#manual, logger });
    const giveUpAfterMs = this.endOfTurn.incompleteMs + HAND_ON_AFTER_MS;
    this.#spoken = new SpokenTime({ silenceMs: NOTICED_SILENCE_MS, giveUpAfterMs });
    const turns = () => this.#turns;
    this.#speech = new UserSpeech({
      take,
      spoken: () => this.#takeSpoken(),
      speaker: () => this.#participant(),
      isHeldBack,
      isSpeaking: () => this.#isUserSpeaking,
      giveUpAfterMs,
      // Read when speech arrives, because the recognizer is not known yet.
      get onComplete() {
        const words = turns();
        return words && (() => words.clear());
      },
    });
  }

  /** Call this before the AgentSession starts. */
  use(recognizer: stt.STT): void {
    this.recognizer = this.#adapt(recognizer);
    if (!recognizer.capabilities.streaming) return;
    this.speakers = new SpeakerStreams();
    this.speakers.change(this.#participant(), false);
  }

  /** Creates the voice activity detection of the AgentSession. */
  createVad(): VoiceActivity {
    const onEvent = (event: VADEvent) => this.turnEnd.handleActivity(event);
    return new VoiceActivity({ endOfTurnMs: this.endOfTurn.incompleteMs, onEvent });
  }

  /** Returns a track's audio as AgentSession shall hear it. */
  listen(track: Track, live: ReadableStream<AudioFrame>): ReadableStream<AudioFrame> {
    return this.#manual ? this.#manual.gate(live) : this.#preConnectAudio.precede(track, live);
  }

  /** Call this once the room is connected. */
  start(): void {
    this.#microphones.start();
    this.#manual?.start();
  }

  /** Listens to this participant if they have a microphone and the current participant is not speaking. */
  prefer(identity: string): void {
    this.#microphones.prefer(identity);
  }

  /** Call this once the AgentSession has started. */
  open(listening: Listening): void {
    this.#listening = listening;
    const { session, io } = listening;
    session.on(voice.AgentSessionEventTypes.UserInputTranscribed, ({ transcript, isFinal, language }) => {
      if (transcript.trim() !== "") this.#unrecognized.handleRecognized();
      if (isFinal) this.#due.settle();
      const speaker = this.speakers?.speakerOf(transcript);
      this.#speech.take(transcript, { isFinal, language: language ?? undefined, speaker });
    });
    session.on(voice.AgentSessionEventTypes.UserStateChanged, ({ newState }) => {
      if (newState === "speaking") this.#speech.begin();
      for (const each of [this.#quiet, this.#unrecognized, this.#spoken])
        if (newState === "speaking") each.handleSpeech();
        else each.handleSilence();
    });
    session.on(voice.AgentSessionEventTypes.EotPrediction, (prediction) => this.turnEnd.handlePrediction(prediction));
    session.on(voice.AgentSessionEventTypes.UserTranscriptionTimeout, () => this.#unrecognized.handleTimeout());
    session.on(voice.AgentSessionEventTypes.Close, () => (this.#listening = undefined));
    if (this.#speaker !== undefined) io.setParticipant(this.#speaker);
    this.#microphones.open();
  }

  /** Call this with each complete utterance. */
  complete(text: string): void {
    this.#speech.complete(text);
    this.#quiet.handleRecognized();
  }

  /**
   * Whether AgentSession may receive this event of the recognizer. If not, a participant has only said something like
   * "mhm". The agent's speech resumes then, and also after a sound without words.
   */
  mayPass(event: stt.SpeechEvent): boolean {
    const { FINAL_TRANSCRIPT, INTERIM_TRANSCRIPT } = stt.SpeechEventType;
    const isFinal = event.type === FINAL_TRANSCRIPT;
    if ((!isFinal && event.type !== INTERIM_TRANSCRIPT) || !this.#options.isTelling()) return true;
    const { text = "", language } = event.alternatives?.[0] ?? {};
    if (isFinal && text === "") this.#resume();
    if (!this.#backchannels.has(text, language)) return true;
    if (isFinal) this.#dismiss();
    return false;
  }

  /** Resolves when no participant is speaking. Rejects with the signal's reason. */
  async untilQuiet(signal: AbortSignal): Promise<void> {
    await abortable(this.#quiet.reached, signal);
  }

  /**
   * Resolves when the words that a participant has said have become an utterance. Returns `undefined` if there are none.
   */
  untilUttered(): Promise<void> | undefined {
    return this.#speech.isOpen && !this.#quiet.isReached ? this.#quiet.reached : undefined;
  }

  close(): void {
    this.#speech.close();
    this.#quiet.handleRecognized();
    this.#microphones.close();
    this.#preConnectAudio.close();
    this.#manual?.close();
  }

  /** The words of the current turn. Set for a recognizer that runs on this machine. */
  get #turns() {
    return this.recognizer instanceof TurnRecognizer ? this.recognizer.words : undefined;
  }

  get #isUserSpeaking(): boolean {
    return this.#listening?.session.userState === "speaking";
  }

  /**
   * Whether a participant is speaking or their words are still due. While this is true, the agent does not switch to
   * another participant, so that the words are not misattributed.
   */
  get #isHearing(): boolean {
    return this.#isUserSpeaking || !this.#quiet.isReached || this.#unrecognized.isAsked;
  }

  /** A recognizer for single utterances gets a time limit and, if it runs on this machine, hears whole turns. */
  #adapt(recognizer: stt.STT): stt.STT {
    if (recognizer.capabilities.streaming) return recognizer;
    const limited = new LimitedRecognizer(recognizer, [this.#unrecognized, this.#due]);
    if (!isLocal(recognizer)) return limited;
    const { interimTranscripts: interims, keyterms: terms } = this.#options.settings;
    const vad = new VoiceActivity({ endOfTurnMs: this.endOfTurn.incompleteMs, leadInMs: LOCAL_LEAD_IN_MS });
    return new TurnRecognizer({ recognizer, limited, vad, due: this.#due, interims, keyterms: new Keyterms(terms) });
  }

  #createManualTurns(): ManualTurns {
    return new ManualTurns({
      room: this.#options.room,
      listenTo: (identity) => {
        this.#microphones.prefer(identity);
        return this.#speaker === identity;
      },
      onCanceled: () => {
        this.#listening?.session.clearUserTurn();
        this.#dismiss();
      },
    });
  }

  #dismiss(): void {
    this.#speech.dismiss();
    this.#unrecognized.handleRecognized();
    this.#quiet.handleRecognized();
    this.#due.settle();
    this.#resume();
  }

  #resume(): void {
    if (this.#listening) resumeSpeech(this.#listening.session);
  }

  #takeSpoken(): SpokenTimes | undefined {
    const times = this.#spoken.take();
    const turnEnd = this.turnEnd.take();
    return times && { ...times, turnEnd };
  }

  #listenTo(identity: string | undefined): void {
    const areWordsDue = this.#speech.changeSpeaker(this.#isHearing);
    this.#turns?.fix();
    this.#speaker = identity;
    this.speakers?.change(this.#participant(), areWordsDue);
    if (identity === undefined) this.#listening?.io.unsetParticipant();
    else if (this.#listening) this.#listening.io.setParticipant(identity);
    else this.#options.onSpeaker();
  }

  #participant(): RoomParticipant | undefined {
    const participant = this.#options.room.remoteParticipants.get(this.#speaker ?? "");
    return participant && toRoomParticipant(participant);
  }
}
