import { inference, type tts } from "@livekit/agents";
import { EspeakSynthesizer } from "./espeak/espeak-synthesizer.ts";
import { findEspeak } from "./espeak/find-espeak.ts";
import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { type SpeechChoice } from "./speech-choice.ts";
import { type Synthesizer } from "./synthesizer.ts";

/** The voice that was chosen, its package loaded only now; undefined when nothing is to be spoken, or nothing can be. */
export async function loadTts(choice: SpeechChoice, env: NodeJS.ProcessEnv): Promise<Synthesizer | undefined> {
  if (choice.tts === "none") return undefined;
  if (choice.tts !== "espeak") return new PluginSynthesizer(await loadPlugin(choice, choice.tts));
  const espeak = await findEspeak(env);
  return espeak && new EspeakSynthesizer(espeak, choice.ttsVoice);
}

async function loadPlugin(
  { keys, ttsModel, ttsVoice, ttsBaseUrl }: SpeechChoice,
  name: Exclude<SpeechChoice["tts"], "none" | "espeak">,
): Promise<tts.TTS> {
  const model = ttsModel === undefined ? {} : { model: ttsModel };
  const voice = ttsVoice === undefined ? {} : { voice: ttsVoice };
  switch (name) {
    case "livekit":
      return new inference.TTS({ model: ttsModel ?? "cartesia/sonic-3", ...voice });
    case "deepgram": {
      const { TTS } = await import("@livekit/agents-plugin-deepgram");
      return new TTS({ apiKey: keys.DEEPGRAM_API_KEY ?? "", ...model });
    }
    case "openai": {
      const { TTS } = await import("@livekit/agents-plugin-openai");
      const baseURL = ttsBaseUrl === undefined ? {} : { baseURL: ttsBaseUrl };
      const options = { apiKey: keys.OPENAI_API_KEY ?? "none", ...baseURL, ...model, ...voice };
      return new TTS(options as ConstructorParameters<typeof TTS>[0]);
    }
    case "cartesia": {
      const { TTS } = await import("@livekit/agents-plugin-cartesia");
      return new TTS({ apiKey: keys.CARTESIA_API_KEY ?? "", ...model, ...voice });
    }
    case "elevenlabs": {
      const { TTS } = await import("@livekit/agents-plugin-elevenlabs");
      const voiceId = ttsVoice === undefined ? {} : { voiceId: ttsVoice };
      return new TTS({ apiKey: keys.ELEVEN_API_KEY ?? "", ...model, ...voiceId });
    }
  }
}
