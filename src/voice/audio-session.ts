import { type ReadableStream, TransformStream } from "node:stream/web";
import { llm, type stt, voice } from "@livekit/agents";
import type { AudioFrame, Room } from "@livekit/rtc-node";
import { isRecord } from "../lib/json.ts";
import { startInRoom } from "../livekit/agent-session.ts";
import { playedSeconds } from "../livekit/audio-output.ts";
import { type RoomListener, TRANSCRIPT_TIMEOUT_MS } from "./listen/room-listener.ts";
import type { OpenRecognizer, Recognized } from "./listen/speaker-streams.ts";
import { SILENCE_DELAY_MS } from "./listen/voice-activity.ts";
import type { AgentAudio } from "./speak/agent-audio.ts";
import { SpeechPlayer } from "./speak/speech-player.ts";
import type { SpokenWords } from "./speak/spoken-words.ts";
import { namedError } from "./providers/plugin-error.ts";
import type { Synthesizer } from "./providers/synthesizer.ts";
import type { VoiceSettings } from "./voice-settings.ts";

interface AudioSessionOptions {
  readonly room: Room;
  readonly audio: AgentAudio | undefined;
  /** Undefined: the session listens to nobody. */
  readonly listener: RoomListener | undefined;
  readonly synthesizer: Synthesizer | undefined;
  readonly words: SpokenWords;
  readonly settings: VoiceSettings;
  readonly onProblem: (what: string, error: unknown) => void;
}

export interface AudioSession {
  readonly session: voice.AgentSession;
  readonly io: voice.RoomIO;
  readonly player: SpeechPlayer;
  readonly close: () => Promise<void>;
}

/**
 * Starts LiveKit's AgentSession in a room. The session detects when a participant starts and stops speaking, and plays
 * the player's parts. Its tool loop, generation and chat context are not used.
 */
export async function startAudioSession(options: AudioSessionOptions): Promise<AudioSession> {
  const { room, audio, listener, synthesizer, onProblem } = options;
  const speakers = listener?.speakers;
  const session = new voice.AgentSession(sessionOptions(options));
  const player = new SpeechPlayer({
    session,
    synthesizer,
    words: options.words,
    playedSeconds: () => (audio ? playedSeconds(audio.output) : 0),
    onProblem: (error) => onProblem("speech failed", error),
  });
  const agent = new SpeechAgent({
    nextText: () => player.nextText(),
    synthesize: (text) => player.synthesize(text),
    captions: (text) => player.captions(text),
    recognize: async (sound, open) => {
      const words = await (speakers ? speakers.recognize(sound, open) : open(sound));
      return words && listener ? words.pipeThrough(filtered((event) => listener.mayPass(event))) : words;
    },
    onUserTurn: (text) => listener?.complete(text),
  });
  session.on(voice.AgentSessionEventTypes.Error, ({ error }) =>
    onProblem("recognition failed", recognitionError(error)),
  );
  if (audio) session.output.audio = audio.output;
  audio?.output.on(voice.AudioOutput.EVENT_PLAYBACK_FINISHED, (ended: voice.PlaybackFinishedEvent) =>
    player.handlePlaybackFinished(ended),
  );
  const io = await startInRoom({
    session,
    agent,
    room,
    listen: listener && ((track, live) => listener.listen(track, live)),
    canSpeak: audio !== undefined,
  });
  return {
    session,
    io,
    player,
    close: async () => {
      await io.close();
      await session.close();
    },
  };
}

function sessionOptions({ listener, settings }: AudioSessionOptions): voice.AgentSessionOptions {
  const { interruptAfterMs, resumeAfterMs } = settings;
  const { completeMs = 0, incompleteMs = 0 } = listener?.endOfTurn ?? {};
  return {
    llm: new NoModel(),
    vad: listener?.createVad() ?? null,
    ...(listener?.recognizer && { stt: listener.recognizer }),
    userAwayTimeout: null,
    // The player removes markup itself, so that captions keep the original sentences.
    ttsTextTransforms: null,
    aecWarmupDuration: null,
    transcriptionTimeout: listener ? TRANSCRIPT_TIMEOUT_MS : null,
    // A failing recognizer or voice must not end the session.
    connOptions: { maxUnrecoverableErrors: Number.MAX_SAFE_INTEGER },
    turnHandling: {
      turnDetection: listener?.turnEnd ?? null,
      endpointing: {
        minDelay: Math.max(0, completeMs - SILENCE_DELAY_MS),
        maxDelay: Math.max(0, incompleteMs - SILENCE_DELAY_MS),
      },
      interruption: {
        mode: "vad",
        minDuration: interruptAfterMs,
        falseInterruptionTimeout: resumeAfterMs,
        resumeFalseInterruption: true,
        discardAudioIfUninterruptible: false,
      },
      preemptiveGeneration: { enabled: false },
    },
  };
}

/** Functions that SpeechAgent calls. None of them throws. */
interface SpeechAgentPorts {
  /** Returns the text of the reply that is being generated. */
  readonly nextText: () => ReadableStream<string>;
  readonly synthesize: (text: AsyncIterable<string>) => ReadableStream<AudioFrame>;
  /** Returns the captions to show while the reply is played. */
  readonly captions: SpeechPlayer["captions"];
  /** Wraps the recognizer. */
  readonly recognize: (sound: ReadableStream<AudioFrame>, open: OpenRecognizer) => ReturnType<OpenRecognizer>;
  /** Called with each complete utterance of a participant. */
  readonly onUserTurn: (text: string) => void;
}

/**
 * Replaces the model that AgentSession expects. This agent's replies are the player's text. Complete utterances are
 * passed to our session, which decides how to handle them. AgentSession's own chat context stays empty.
 */
class SpeechAgent extends voice.Agent {
  readonly #ports: SpeechAgentPorts;

  constructor(ports: SpeechAgentPorts) {
    super({ instructions: "" });
    this.#ports = ports;
  }

  override async sttNode(...[audio, settings]: Parameters<voice.Agent["sttNode"]>): ReturnType<voice.Agent["sttNode"]> {
    return this.#ports.recognize(audio as ReadableStream<AudioFrame>, (part) => super.sttNode(part, settings));
  }

  override async llmNode(): Promise<ReadableStream<string>> {
    return this.#ports.nextText();
  }

  override async ttsNode(text: ReadableStream<string> | AsyncIterable<string>): Promise<ReadableStream<AudioFrame>> {
    return this.#ports.synthesize(text);
  }

  override async transcriptionNode(
    ...[text]: Parameters<voice.Agent["transcriptionNode"]>
  ): ReturnType<voice.Agent["transcriptionNode"]> {
    return this.#ports.captions(text as ReadableStream<string | voice.TimedString>);
  }

  override async onUserTurnCompleted(_context: llm.ChatContext, message: llm.ChatMessage): Promise<void> {
    this.#ports.onUserTurn(message.textContent ?? "");
    throw new voice.StopResponse();
  }
}

/** AgentSession requires a model, but our `llmNode` never calls it. */
class NoModel extends llm.LLM {
  override label(): string {
    return "parley";
  }

  override chat(): llm.LLMStream {
    throw new TypeError("AgentSession called its model, but only the turn engine may call a model");
  }
}

/** LiveKit's event is not an error, but contains one, and the recognizer's name. */
function recognitionError(event: unknown): unknown {
  return isRecord(event) && "error" in event ? namedError(String(event["label"]), event["error"]) : event;
}

/** Drops the events that may not pass. */
function filtered(mayPass: (event: stt.SpeechEvent) => boolean): TransformStream<Recognized, Recognized> {
  return new TransformStream({
    transform: (event, controller) => {
      if (typeof event === "string" || mayPass(event)) controller.enqueue(event);
    },
  });
}
