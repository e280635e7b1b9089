import { setTimeout as sleep } from "node:timers/promises";
import { type AudioFrame, AudioSource, LocalAudioTrack, type Room, TrackPublishOptions } from "@livekit/rtc-node";
import { readSound, type ThinkingSetting } from "../../agent/thinking.ts";
import { joinSamples, toMono } from "../../livekit/audio-frame.ts";
import { piecesOf, type Synthesizer, type VoiceChoice } from "../providers/synthesizer.ts";
import { BACKGROUND_RATE, chime, framesOf, repeated } from "./looped-sound.ts";
import type { SpokenWords } from "./spoken-words.ts";

/** LiveKit's own name for a track besides an agent's voice. */
const TRACK_NAME = "background_audio";
const QUEUE_MS = 200;
/** How much is queued ahead, in case this process is late. */
const AHEAD_MS = 40;

interface ThinkingOptions {
  readonly room: Room;
  readonly synthesizer: Synthesizer;
  readonly words: SpokenWords;
  /** Returns the current agent's setting. Undefined: nothing is heard. */
  readonly setting: () => ThinkingSetting | undefined;
  /** Whether a participant is speaking. */
  readonly isUserSpeaking: () => boolean;
  readonly onProblem: (error: unknown) => void;
}

interface ThinkingVoice {
  /** BCP 47. */
  readonly language: string | undefined;
  readonly voice: VoiceChoice | undefined;
}

/** The sounds of this process's sessions, by path. The empty path is Parley's own sound. */
const sounds = new Map<string, readonly AudioFrame[]>();

/**
 * What is heard while the model keeps a participant waiting (`voice.thinking`). It has a track of its own, so it can
 * neither delay nor interrupt the agent's speech, and no captions or history contain it.
 */
export class Thinking {
  readonly #options: ThinkingOptions;
  #published: Promise<AudioSource> | undefined;
  /** The synthesized words, by words, language and voice. */
  readonly #words = new Map<string, readonly AudioFrame[]>();
  #playing: AbortController | undefined;

  constructor(options: ThinkingOptions) {
    this.#options = options;
  }

  /**
   * Publishes the track and synthesizes the words. Call this while nobody waits for the agent's voice, because the
   * voice might do one thing after the other. Never rejects.
   */
  async prepare(voice: ThinkingVoice): Promise<void> {
    const setting = this.#options.setting();
    if (setting === undefined) return;
    try {
      await this.#publish();
      if (isWords(setting)) await this.#synthesize(setting, voice);
    } catch (error) {
      this.#options.onProblem(error);
    }
  }

  /**
   * Plays until the signal aborts, `stop` is called or the words have been said. Words that are not prepared are not
   * said. Never rejects.
   *
   * @param isFirst whether nothing was heard in this turn yet. Words are said only then
   */
  async play({ isFirst, ...voice }: ThinkingVoice & { readonly isFirst: boolean }, signal: AbortSignal): Promise<void> {
    const setting = this.#options.setting();
    if (setting === undefined || signal.aborted || this.#options.isUserSpeaking()) return;
    this.stop();
    const playing = new AbortController();
    this.#playing = playing;
    const ended = AbortSignal.any([signal, playing.signal]);
    try {
      const source = await this.#publish();
      if (!isWords(setting)) await send(repeated(soundOf(setting)), source, ended);
      else if (isFirst) await send(this.#words.get(keyOf(setting, voice)) ?? [], source, ended);
    } catch (error) {
      if (!ended.aborted) this.#options.onProblem(error);
    }
  }

  /** Ends the sound at once. Call this when the agent's voice begins, and when a participant speaks. */
  stop(): void {
    this.#playing?.abort();
    this.#playing = undefined;
  }

  async close(): Promise<void> {
    this.stop();
    const source = await this.#published?.catch(() => undefined);
    await source?.close();
  }

  #publish(): Promise<AudioSource> {
    return (this.#published ??= publish(this.#options.room));
  }

  async #synthesize(words: string, voice: ThinkingVoice): Promise<void> {
    const key = keyOf(words, voice);
    if (this.#words.has(key)) return;
    const { synthesizer } = this.#options;
    const text = await this.#options.words.rewrite(words, voice.language);
    const { signal } = new AbortController();
    const frames: AudioFrame[] = [];
    for await (const frame of synthesizer.speak(piecesOf(text), { ...voice, signal })) frames.push(frame);
    const sampleRate = frames[0]?.sampleRate ?? BACKGROUND_RATE;
    this.#words.set(key, framesOf({ samples: joinSamples(frames.map(toMono)), sampleRate }));
  }
}

function isWords(setting: ThinkingSetting): setting is string {
  return typeof setting === "string" && setting !== "sound";
}

function keyOf(words: string, { language, voice }: ThinkingVoice): string {
  return JSON.stringify([words, language, voice]);
}

function soundOf(setting: ThinkingSetting): readonly AudioFrame[] {
  const path = typeof setting === "string" ? "" : setting.sound;
  const frames = sounds.get(path) ?? framesOf(path === "" ? chime() : readSound(path));
  sounds.set(path, frames);
  return frames;
}

async function publish(room: Room): Promise<AudioSource> {
  const source = new AudioSource(BACKGROUND_RATE, 1, QUEUE_MS);
  const track = LocalAudioTrack.createAudioTrack(TRACK_NAME, source);
  await room.localParticipant?.publishTrack(track, new TrackPublishOptions());
  return source;
}

/** Rejects when the signal aborts. What is still queued then is not heard. */
async function send(frames: Iterable<AudioFrame>, source: AudioSource, signal: AbortSignal): Promise<void> {
  const clear = () => source.clearQueue();
  signal.addEventListener("abort", clear, { once: true });
  try {
    for (const frame of frames) {
      signal.throwIfAborted();
      await source.captureFrame(frame);
      await sleep(Math.max(0, source.queuedDuration - AHEAD_MS), undefined, { signal });
    }
    await sleep(source.queuedDuration, undefined, { signal });
  } finally {
    signal.removeEventListener("abort", clear);
  }
}
