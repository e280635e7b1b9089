import type { Speech } from "./speech-choice.ts";
import type { Synthesizer } from "./synthesizer.ts";

/** The usual voice, or the one that is named when the speech begins: another agent may serve the room by then. */
export function namedVoice(
  speech: Pick<Speech, "voiceNamed">,
  usual: Synthesizer,
  name: () => string | undefined,
): Synthesizer {
  const speak: Synthesizer["speak"] = async function* (text, options) {
    const wanted = name();
    const other = wanted === undefined ? undefined : await speech.voiceNamed(wanted);
    yield* (other ?? usual).speak(text, options);
  };
  return { speak, close: () => usual.close() };
}
