import { inference, type stt } from "@livekit/agents";
import { type SpeechChoice } from "./speech-choice.ts";

/** The recogniser that was chosen, its package loaded only now; undefined for `none`. */
export async function loadStt(choice: SpeechChoice): Promise<stt.STT | undefined> {
  const { keys, sttModel, sttLanguage, sttBaseUrl } = choice;
  const model = sttModel === undefined ? {} : { model: sttModel };
  const language = sttLanguage === undefined ? {} : { language: sttLanguage };
  switch (choice.stt) {
    case "none":
      return undefined;
    case "livekit":
      return new inference.STT({ ...model, ...language });
    case "deepgram": {
      const { STT } = await import("@livekit/agents-plugin-deepgram");
      return new STT({ apiKey: keys.DEEPGRAM_API_KEY ?? "", ...model, ...language });
    }
    case "openai": {
      const { STT } = await import("@livekit/agents-plugin-openai");
      const baseURL = sttBaseUrl === undefined ? {} : { baseURL: sttBaseUrl };
      // Its default is a websocket, which compatible servers do not have.
      return new STT({ apiKey: keys.OPENAI_API_KEY ?? "none", useRealtime: false, ...baseURL, ...model, ...language });
    }
    case "cartesia": {
      const { STT } = await import("@livekit/agents-plugin-cartesia");
      return new STT({ apiKey: keys.CARTESIA_API_KEY ?? "", ...model, ...language });
    }
    case "elevenlabs": {
      const { STT } = await import("@livekit/agents-plugin-elevenlabs");
      const languageCode = sttLanguage === undefined ? {} : { languageCode: sttLanguage };
      return new STT({ apiKey: keys.ELEVEN_API_KEY ?? "", ...model, ...languageCode });
    }
  }
}
