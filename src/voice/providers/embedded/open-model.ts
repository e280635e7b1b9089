import { resolve } from "node:path";
import { RemoteModel } from "../../../speech/remote-model.ts";
import { type SpeechModelOf, type SpeechUse, startModel } from "../../../speech/start-model.ts";
import { prepareSpeech } from "./prepare-speech.ts";

/** The environment variable through which job processes inherit the socket of the worker's speech process. */
export const SPEECH_SOCKET = "PARLEY_SPEECH_SOCKET";

/**
 * Returns the model of the worker's speech process. In a process without a worker, such as a test, the model is loaded
 * in a thread. The caller closes it.
 *
 * @throws {AppError} `unavailable` if a download fails
 */
export async function openModel<Use extends SpeechUse>(use: Use, env: NodeJS.ProcessEnv): Promise<SpeechModelOf<Use>> {
  const socket = env[SPEECH_SOCKET];
  if (socket) return new RemoteModel(socket, `/${use}`);
  return startModel(use, await prepareSpeech([use], resolve(env["PARLEY_CACHE_DIR"] || ".cache")));
}
