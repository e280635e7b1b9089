import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { AudioFrame } from "@livekit/rtc-node";
import { programEnvironment } from "../../../tool/program-environment.ts";
import { findPackage } from "../../../tool/find-package.ts";
import { toAudioFrame } from "../../../livekit/audio-frame.ts";
import { splitSentences, type SpeakOptions, type Synthesizer } from "../synthesizer.ts";
import { EspeakPackage, WAV_HEADER_BYTES } from "./espeak-package.ts";

const SAMPLE_RATE = 22_050;
const FRAME_SAMPLES = SAMPLE_RATE / 50;
const FALLBACK_VOICE = "en";
/** How long espeak-ng may take for a sentence. It normally takes a fraction of a second. */
const SENTENCE_LIMIT_MS = 20_000;

/** Where to find espeak-ng: a program on PATH (preferred) or the npm package. */
export type Espeak = { readonly kind: "program"; readonly path: string } | { readonly kind: "package" };

export async function findEspeak(env: NodeJS.ProcessEnv): Promise<Espeak | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, "espeak-ng");
    const exists = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (exists) return { kind: "program", path };
  }
  return findPackage("espeak-ng") !== undefined ? { kind: "package" } : undefined;
}

/** Speaks with espeak-ng, one sentence at a time. */
export class EspeakSynthesizer implements Synthesizer {
  readonly #voice: string | undefined;
  readonly #read: (text: string, voice: string, signal: AbortSignal) => Promise<Uint8Array | undefined>;
  readonly #package: EspeakPackage | undefined;

  /** @param voice espeak-ng's name for the voice; undefined to choose a voice by the text's language */
  constructor(espeak: Espeak, voice: string | undefined) {
    this.#voice = voice;
    if (espeak.kind === "program") {
      this.#read = (text, name, signal) => runProgram(espeak.path, { text, voice: name }, signal);
      return;
    }
    const speaker = new EspeakPackage();
    this.#package = speaker;
    this.#read = (text, name) => speaker.speak(text, name);
  }

  async *speak(text: AsyncIterable<string>, { language, signal }: SpeakOptions): AsyncGenerator<AudioFrame> {
    const voice = this.#voice ?? voiceOf(language);
    for await (const sentence of splitSentences(text, language)) {
      if (signal.aborted) return;
      const read = async (name: string) => (signal.aborted ? undefined : this.#read(sentence, name, signal));
      const wav = (await read(voice)) ?? (await read(FALLBACK_VOICE));
      if (signal.aborted) return;
      if (!wav) throw new Error("espeak-ng failed");
      yield* toFrames(wav);
    }
  }

  warm(): void {
    this.#package?.start();
  }

  async close(): Promise<void> {
    this.#package?.close();
  }
}

/**
 * Returns the language of a BCP 47 tag. Nothing else may be used as a voice, because espeak-ng turns a voice's name
 * into a file path.
 */
function voiceOf(language = ""): string {
  return /^[a-z]{2,8}(?=-|$)/i.exec(language)?.[0].toLowerCase() ?? FALLBACK_VOICE;
}

function* toFrames(wav: Uint8Array): Generator<AudioFrame> {
  const bytes = wav.slice(WAV_HEADER_BYTES);
  const samples = new Int16Array(bytes.buffer, 0, Math.floor(bytes.length / 2));
  for (let start = 0; start < samples.length; start += FRAME_SAMPLES) {
    yield toAudioFrame(samples.subarray(start, start + FRAME_SAMPLES), SAMPLE_RATE);
  }
}

async function runProgram(
  path: string,
  { text, voice }: { readonly text: string; readonly voice: string },
  cut: AbortSignal,
): Promise<Uint8Array | undefined> {
  const signal = AbortSignal.any([cut, AbortSignal.timeout(SENTENCE_LIMIT_MS)]);
  const child = spawn(path, ["--stdout", "-v", voice, "--stdin"], {
    env: programEnvironment("ESPEAK_DATA_PATH"),
    stdio: ["pipe", "pipe", "ignore"],
    signal,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<boolean>((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(code === 0));
  });
  child.stdin.on("error", () => {});
  child.stdin.end(text);
  const wav = await buffer(child.stdout).catch(() => undefined);
  return (await ended) && wav && wav.length > WAV_HEADER_BYTES ? wav : undefined;
}
