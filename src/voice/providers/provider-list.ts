import { cartesia } from "./cartesia.ts";
import { deepgram } from "./deepgram.ts";
import { embedded } from "./embedded.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { espeak } from "./espeak.ts";
import { livekit } from "./livekit.ts";
import { none } from "./none.ts";
import { openai } from "./openai.ts";

/**
 * All speech providers. The values of STT and TTS, and the variables for keys, derive from this list. When you change
 * it, also update docs/voice.md (same order), .env.example, docs/operating.md, docker-compose.yml and package.json.
 */
export const SPEECH_PROVIDERS = [embedded, espeak, none, livekit, deepgram, openai, cartesia, elevenlabs] as const;

export const STT_NAMES = SPEECH_PROVIDERS.filter((provider) => "listen" in provider).map(({ name }) => name);
export const TTS_NAMES = SPEECH_PROVIDERS.filter((provider) => "speak" in provider).map(({ name }) => name);
/** Names of the environment variables that contain keys. */
export const SPEECH_KEYS = SPEECH_PROVIDERS.filter((provider) => "key" in provider).map(({ key }) => key);

export type SttName = (typeof STT_NAMES)[number];
export type TtsName = (typeof TTS_NAMES)[number];
export type SpeechKey = (typeof SPEECH_KEYS)[number];
