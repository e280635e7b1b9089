import { siblingModuleUrl } from "../lib/sibling-module-url.ts";
import { ModelThread, type ModelThreadOptions } from "./model-thread.ts";
import type { SpeechModel } from "./speech-model.ts";
import type { Speech } from "./voice/voice.ts";

/** What each model is asked. Samples are mono, at 16,000 per second, from -1 to 1. */
interface Questions {
  readonly listen: Float32Array;
  readonly speak: string;
}

/** The parts of each model's answers. `listen` answers in one part. */
interface Answers {
  readonly listen: string;
  readonly speak: Speech;
}

export type SpeechUse = keyof Questions;
export type SpeechModelOf<Use extends SpeechUse> = SpeechModel<Questions[Use], Answers[Use]>;

interface ThreadOptions<Part> extends Omit<ModelThreadOptions<Part>, "module" | "workerData"> {
  /** The path of the module that the thread runs. */
  readonly path: string;
}

const THREADS: { readonly [Use in SpeechUse]: ThreadOptions<Answers[Use]> } = {
  listen: { name: "the embedded recognizer", path: "./listen/moonshine-thread" },
  speak: {
    name: "the embedded voice",
    path: "./voice/voice-thread",
    soundMs: ({ samples, sampleRate }) => (samples.length / sampleRate) * 1_000,
  },
};

/**
 * Loads a model in a thread of this process. The caller closes it.
 *
 * @param folder contains the parts that `fetchSpeechFiles` downloaded
 */
export async function startModel<Use extends SpeechUse>(use: Use, folder: string): Promise<SpeechModelOf<Use>> {
  const options: ThreadOptions<Answers[Use]> = THREADS[use];
  const module = siblingModuleUrl(import.meta.url, options.path);
  const thread = new ModelThread<Questions[Use], Answers[Use]>({ ...options, module, workerData: folder });
  await thread.warm();
  return thread;
}
