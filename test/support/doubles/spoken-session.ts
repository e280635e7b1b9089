import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { stt, type voice } from "@livekit/agents";
import { type AudioFrame, ParticipantKind, type Room, TrackSource } from "@livekit/rtc-node";
import { pino } from "pino";
import { toAudioFrame } from "../../../src/livekit/audio-frame.ts";
import type { OnRoomInput } from "../../../src/session/room/room-input.ts";
import type { VoicePort } from "../../../src/session/room/voice-port.ts";
import { RoomListener } from "../../../src/voice/listen/room-listener.ts";
import type { LocalRecognizer } from "../../../src/voice/listen/turn-recognizer.ts";
import { timeWords } from "../../../src/voice/providers/word-times.ts";
import { AnswerSpeech } from "../../../src/voice/speak/answer-speech.ts";
import { PreparedSynthesizer } from "../../../src/voice/speak/prepared-synthesizer.ts";
import { SpokenWords } from "../../../src/voice/speak/spoken-words.ts";
import { SpeechPlayer } from "../../../src/voice/speak/speech-player.ts";
import { toSpeakable } from "../../../src/voice/speak/speakable.ts";
import type { VoiceSettings } from "../../../src/voice/voice-settings.ts";
import { FakeAgentSession } from "./fake-agent-session.ts";
import { FAKE_RATE, type FakeActivityStream, FakeVoiceActivity, WINDOW_MS } from "./fake-voice-activity.ts";

const WORD_MS = 5 * WINDOW_MS;
/** How long the agent needs for a word. */
const SPOKEN_WORD_MS = 200;
const LOUD = 1_000;

interface SpokenSessionOptions {
  readonly identity: string;
  readonly settings: VoiceSettings;
  readonly take: OnRoomInput;
  /** How long the recognizer needs. */
  readonly recognizeMs: () => number;
  /** Whether the sound of a pause seems to be that of somebody who has finished. */
  readonly seemsComplete: () => boolean;
  /** The streams of voice activity that the worker opens. */
  readonly activities: FakeActivityStream[];
}

/**
 * The voice of a session, with the parts that it has in a room, and a participant who speaks to it. Only LiveKit's room
 * and AgentSession, the recognizer, the synthesizer and the voice activity are doubles.
 */
export class SpokenSession {
  readonly agentSession: FakeAgentSession;
  /** The words of the agent that were heard in full. */
  readonly heard: string[] = [];
  /** How often the agent was heard thinking, and how often while it was speaking. */
  readonly thought = { count: 0, overSpeech: 0 };
  /** How many replies began to sound although the participant had gone on speaking, and could have interrupted them. */
  readonly falseStarts = { count: 0 };
  readonly voice: VoicePort;
  readonly #options: SpokenSessionOptions;
  readonly #activity = new FakeVoiceActivity();
  readonly #listener: RoomListener;
  readonly #words: string[] = [];
  readonly #wordOf = new WeakMap<AudioFrame, string>();
  readonly #methods = new Map<string, (call: { callerIdentity: string }) => Promise<string>>();
  #stream: stt.SpeechStream | undefined;
  #thinking: AbortController | undefined;
  /** Whether the microphone is open. */
  #isHeard: boolean;
  #soundedAt: number | undefined;

  constructor(options: SpokenSessionOptions) {
    this.#options = options;
    const { settings, take } = options;
    this.#isHeard = settings.turns === "auto";
    let isInterruptible = true;
    const session = new FakeAgentSession({
      settings,
      onCleared: () => void this.#readWords(),
      listener: () => this.#listener,
      player: () => player,
      onHeard: (frame) => this.heard.push(this.#wordOf.get(frame) ?? ""),
      onSound: () => {
        this.#soundedAt ??= Date.now();
        if (session.hasOpenWords && isInterruptible) this.falseStarts.count += 1;
        this.#thinking?.abort();
      },
    });
    this.agentSession = session;
    const synthesizer = new PreparedSynthesizer({ speak: (text) => this.#synthesize(text), close: async () => {} });
    const onProblem = (error: unknown) => {
      throw error;
    };
    const player = new SpeechPlayer({
      session: session as unknown as voice.AgentSession,
      synthesizer,
      words: new SpokenWords({ pronounce: {}, speakable: undefined, onProblem }),
      playedSeconds: () => session.playedSeconds,
      onProblem,
    });
    this.#listener = new RoomListener({
      room: this.#room(),
      endOfTurnModel: { ask: () => this.#judge(), close: async () => {} },
      settings,
      take,
      isHeldBack: () => player.isHeldBack,
      isTelling: () => player.isTelling,
      onSpeaker: () => {},
      onNotUnderstood: () => {},
      logger: pino({ level: "silent" }),
    });
    this.voice = {
      isTwoWay: true,
      listens: true,
      speaks: true,
      hasManualTurns: settings.turns === "manual",
      open: (answer) => {
        this.#listener.prefer(answer.participant);
        this.#soundedAt = undefined;
        const thinking = { play: (_: unknown, signal: AbortSignal) => this.#think(signal), prepare: async () => {} };
        return new AnswerSpeech(player, answer, {
          thinking,
          untilUttered: () => (isInterruptible ? this.#listener.untilUttered() : undefined),
        });
      },
      prepare: (sentence, language) =>
        synthesizer.prepare(toSpeakable(sentence, { language, pronounce: {} }), language, undefined),
      untilQuiet: (signal) => this.#listener.untilQuiet(signal),
      setInterruptible: (is) => {
        isInterruptible = is;
        player.setInterruptible(is);
      },
    };
  }

  /** Starts to listen. */
  start(): void {
    const { recognizeMs } = this.#options;
    const recognizer = new FakeRecognizer((frames) => this.#recognize(frames), recognizeMs);
    this.#listener.use(recognizer);
    this.#listener.start();
    const io = { setParticipant: () => {}, unsetParticipant: () => {} } as unknown as voice.RoomIO;
    this.#listener.open({ session: this.agentSession as unknown as voice.AgentSession, io });
    void this.#readWords();
  }

  close(): void {
    this.#listener.close();
    this.#stream?.close();
    for (const activity of this.#options.activities.splice(0)) activity.close();
  }

  /** Calls one of the agent's remote methods. */
  async call(method: "start_turn" | "end_turn" | "cancel_turn"): Promise<void> {
    if (method === "start_turn") this.#isHeard = true;
    else this.#isHeard = false;
    await this.#methods.get(method)?.({ callerIdentity: this.#options.identity });
  }

  /** Makes the participant say these words. */
  async say(words: readonly string[]): Promise<void> {
    this.#soundedAt = undefined;
    for (const word of words) {
      const id = this.#words.push(word);
      for (let at = 0; at < WORD_MS; at += WINDOW_MS) await this.#hear(at + WINDOW_MS >= WORD_MS ? id : 0, true);
    }
  }

  /** Makes the participant make a sound without words. */
  async cough(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += WINDOW_MS) await this.#hear(0, true);
  }

  async pause(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += WINDOW_MS) await this.#hear(0, false);
  }

  /** Pauses until an answer to the last words has sounded for this long, at most for `atMostMs`. Resolves to whether it has. */
  async untilSounded(ms: number, atMostMs: number): Promise<boolean> {
    const hasSounded = () => this.#soundedAt !== undefined && Date.now() - this.#soundedAt >= ms;
    for (let at = 0; at < atMostMs && !hasSounded(); at += WINDOW_MS) await this.pause(WINDOW_MS);
    return hasSounded();
  }

  async #hear(id: number, isSpeech: boolean): Promise<void> {
    const samples = new Int16Array((WINDOW_MS * FAKE_RATE) / 1_000);
    samples[samples.length - 1] = this.#isHeard ? id : 0;
    const isHeard = isSpeech && this.#isHeard;
    for (const event of this.#activity.hear(samples, isHeard)) {
      this.#listener.turnEnd.handleActivity(event);
      for (const activity of this.#options.activities) activity.put(event);
      this.agentSession.handleActivity(event);
    }
    await sleep(WINDOW_MS);
  }

  /** Opens a stream of the recognizer in place of the previous one. */
  async #readWords(): Promise<void> {
    this.#stream?.close();
    const stream = this.#listener.recognizer?.stream();
    this.#stream = stream;
    if (stream)
      for await (const event of stream) if (stream === this.#stream) this.agentSession.handleRecognized(event);
  }

  #recognize(frames: readonly AudioFrame[]): string {
    return frames
      .flatMap(({ data }) => [...data].flatMap((id) => (id > 0 ? (this.#words[id - 1] ?? []) : [])))
      .join(" ");
  }

  async *#judge(): AsyncGenerator<number> {
    yield this.#options.seemsComplete() ? 0.95 : 0.05;
  }

  async *#synthesize(text: AsyncIterable<string>): AsyncGenerator<AudioFrame> {
    let words = "";
    for await (const piece of text) words += piece;
    await sleep(20);
    for (const word of words.trim().split(/\s+/u)) {
      const frame = toAudioFrame(new Int16Array((SPOKEN_WORD_MS * FAKE_RATE) / 1_000).fill(LOUD), FAKE_RATE);
      this.#wordOf.set(frame, word);
      timeWords(frame, [{ text: word, startsAt: 0, endsAt: SPOKEN_WORD_MS / 1_000 }]);
      yield frame;
    }
  }

  /** Like `Thinking`: a new sound replaces the previous one, and nothing is heard while the participant speaks. */
  async #think(signal: AbortSignal): Promise<void> {
    if (this.agentSession.userState === "speaking") return;
    this.thought.count += 1;
    this.#thinking?.abort();
    const thinking = new AbortController();
    this.#thinking = thinking;
    signal.addEventListener("abort", () => thinking.abort(), { once: true });
    while (!thinking.signal.aborted) {
      if (this.agentSession.isSounding) this.thought.overSpeech += 1;
      await sleep(50);
    }
  }

  #room(): Room {
    const publication = { source: TrackSource.SOURCE_MICROPHONE, setSubscribed: () => {} };
    const participant = {
      identity: this.#options.identity,
      sid: `PA_${this.#options.identity}_1`,
      kind: ParticipantKind.STANDARD,
      attributes: {},
      trackPublications: new Map([["mic", publication]]),
    };
    return Object.assign(new EventEmitter(), {
      remoteParticipants: new Map([[participant.identity, participant]]),
      localParticipant: {
        registerRpcMethod: (name: string, handle: (call: { callerIdentity: string }) => Promise<string>) =>
          void this.#methods.set(name, handle),
        unregisterRpcMethod: () => {},
      },
      registerByteStreamHandler: () => {},
      unregisterByteStreamHandler: () => {},
    }) as unknown as Room;
  }
}

/** Returns the words in a sound after a while, as a recognizer on this machine does. */
class FakeRecognizer extends stt.STT implements LocalRecognizer {
  readonly label = "fake";
  readonly #recognize: (frames: readonly AudioFrame[]) => string;
  readonly #ms: () => number;

  constructor(recognize: (frames: readonly AudioFrame[]) => string, ms: () => number) {
    super({ streaming: false, interimResults: false });
    this.#recognize = recognize;
    this.#ms = ms;
  }

  readonly transcribe: LocalRecognizer["transcribe"] = async (frames, { signal, isOptional = false }) => {
    await sleep(this.#ms(), undefined, { signal });
    return isOptional && this.#ms() % 4 === 0 ? undefined : this.#recognize(frames);
  };

  override stream(): stt.SpeechStream {
    throw new TypeError("The recognizer does not stream");
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new TypeError("The recognizer is called with `transcribe`");
  }
}
