import { EndOfTurnModel } from "./turn-end/end-of-turn-model.ts";
import { siblingModuleUrl } from "../lib/sibling-module-url.ts";
import { ModelThread, type ModelThreadOptions } from "./model-thread.ts";
import type { SpeechModel } from "./speech-model.ts";
import type { Speech } from "./voice/voice.ts";

/** What each model is asked. Samples are mono, at 16,000 per second, from -1 to 1. */
interface Questions {
  readonly listen: Float32Array;
  readonly speak: string;
  readonly endOfTurn: Int16Array;
}

/** The parts of each model's answers. `listen` answers in one part. */
interface Answers {
  readonly listen: string;
  readonly speak: Speech;
  readonly endOfTurn: number;
}

export type SpeechUse = keyof Questions;
/** The uses whose models are files that `fetchSpeechFiles` downloads. */
export type EmbeddedUse = Exclude<SpeechUse, "endOfTurn">;
export type SpeechModelOf<Use extends SpeechUse> = SpeechModel<Questions[Use], Answers[Use]>;

interface ThreadOptions<Part> extends Omit<ModelThreadOptions<Part>, "module" | "workerData"> {
  /** The path of the module that the thread runs. */
  readonly path: string;
}

const THREADS: { readonly [Use in EmbeddedUse]: ThreadOptions<Answers[Use]> } = {
  listen: { name: "the embedded recognizer", path: "./listen/moonshine-thread" },
  speak: {
    name: "the embedded voice",
    path: "./voice/voice-thread",
    soundMs: ({ samples, sampleRate }) => (samples.length / sampleRate) * 1_000,
  },
};

const LOAD: { readonly [Use in SpeechUse]: (folder: string) => Promise<SpeechModelOf<Use>> } = {
  listen: (folder) => startThread("listen", folder),
  speak: (folder) => startThread("speak", folder),
  // LiveKit's library has its own threads.
  endOfTurn: () => EndOfTurnModel.load(),
};

/**
 * Loads a model in this process. The caller closes it.
 *
 * @param folder contains the parts that `fetchSpeechFiles` downloaded
 */
export async function startModel<Use extends SpeechUse>(use: Use, folder: string): Promise<SpeechModelOf<Use>> {
  return LOAD[use](folder);
}

async function startThread<Use extends EmbeddedUse>(use: Use, folder: string): Promise<SpeechModelOf<Use>> {
  const options: ThreadOptions<Answers[Use]> = THREADS[use];
  const module = siblingModuleUrl(import.meta.url, options.path);
  const thread = new ModelThread<Questions[Use], Answers[Use]>({ ...options, module, workerData: folder });
  await thread.warm();
  return thread;
}
