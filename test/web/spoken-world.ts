import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { SPEECH_RATE } from "../../src/testing/stage/speaker.ts";
import { speechOf } from "../support/speaker.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { PageWorld } from "./page-world.ts";
import { toWav } from "./wav.ts";

/** How much silence the microphone's file contains before the speech. In this time, the worker starts to listen. */
const SILENCE_SECONDS = 4;
/** What the microphone says once, after it was turned on. */
export const QUESTION = "What is twenty-one times two?";

interface SpokenWorldOptions {
  /** The folder of `parley.config.ts`, in test/fixtures/page. */
  readonly folder: string;
  /** What the recognizer returns. The sound is always the same, because a browser's microphone plays a single file. */
  readonly heard: () => string;
}

/** Starts a browser that asks a question aloud, and a worker that listens and speaks. */
export async function startSpokenWorld({ folder, heard }: SpokenWorldOptions): Promise<PageWorld> {
  await using starting = new AsyncDisposableStack();
  const recognizer = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent" });
  const { path } = starting.use(await tempFolder());
  recognizer.on({ endpoint: "transcription" }, () => ({ transcription: { text: heard() } }));
  const url = await recognizer.start();
  starting.defer(() => recognizer.stop());
  const speech = await speechOf(QUESTION);
  const spoken = join(path, "question.wav");
  const samples = new Int16Array(SILENCE_SECONDS * SPEECH_RATE + speech.length);
  samples.set(speech, SILENCE_SECONDS * SPEECH_RATE);
  await writeFile(spoken, toWav(samples, SPEECH_RATE));
  const voices = { STT: "openai", STT_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "test", TTS: "espeak" };
  const env = { PARLEY_CONFIG: `test/fixtures/page/${folder}/parley.config.ts`, ...voices };
  const page = starting.use(await PageWorld.start({ spoken, env }));
  const ending = starting.move();
  return Object.assign(page, { [Symbol.asyncDispose]: () => ending.disposeAsync() });
}
