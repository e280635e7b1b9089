import { type stt } from "@livekit/agents";
import { loadStt } from "./load-stt.ts";
import { loadTts } from "./load-tts.ts";
import { type SpeechChoice } from "./speech-choice.ts";
import { type Synthesizer } from "./synthesizer.ts";

/** The ears and the mouth that were chosen; absent what is not wanted or cannot be had. */
export interface Speech {
  readonly stt: stt.STT | undefined;
  readonly synthesizer: Synthesizer | undefined;
  readonly close: () => Promise<void>;
}

/** Undefined: the talk is text only. */
export async function loadSpeech(choice: SpeechChoice, env: NodeJS.ProcessEnv): Promise<Speech | undefined> {
  const [recogniser, synthesizer] = await Promise.all([loadStt(choice), loadTts(choice, env)]);
  if (!recogniser && !synthesizer) return undefined;
  // Without a listener an error would end the process; AgentSession says it in the log.
  recogniser?.on("error", () => {});
  const close = async () => {
    await Promise.all([recogniser?.close(), synthesizer?.close()]);
  };
  return { stt: recogniser, synthesizer, close };
}
