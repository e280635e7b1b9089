import type { Speech } from "./speech-choice.ts";
import type { Synthesizer } from "./synthesizer.ts";

/** Speaks with the usual voice, or with the one that is named: agents may have their own. */
export function namedVoice(speech: Pick<Speech, "voiceNamed">, usual: Synthesizer): Synthesizer {
  const speak: Synthesizer["speak"] = async function* (text, options) {
    const other = options.voice === undefined ? undefined : await speech.voiceNamed(options.voice);
    yield* (other ?? usual).speak(text, options);
  };
  return { speak, close: () => usual.close() };
}
