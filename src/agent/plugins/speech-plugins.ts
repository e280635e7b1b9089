import { z } from "zod";
import type { AgentSession } from "../agent-session.ts";

/** The session, as passed to `voice.listen` and `voice.speak`. */
export interface VoiceSession extends AgentSession {
  /** The language of the first of `participants`, if the participant's client has sent it by now. */
  readonly language: string | undefined;
  /** The attributes of the first of `participants`. */
  readonly attributes: Readonly<Record<string, string>>;
}

// The members by which the types of LiveKit's plugins are recognized. With the types of @livekit/agents themselves, an
// agent would compile only with skipLibCheck, because they import the types of packages that it does not install.
interface SpeechPlugin {
  readonly label: string;
  readonly capabilities: { readonly streaming: boolean };
  stream(options?: never): object;
  close(): Promise<void>;
}

/** An `STT` of @livekit/agents. */
export interface RecognizerPlugin extends SpeechPlugin {
  recognize(frames: never, signal?: AbortSignal): Promise<object>;
}

/** A `TTS` of @livekit/agents. */
export interface VoicePlugin extends SpeechPlugin {
  readonly sampleRate: number;
  synthesize(text: string, options?: never, signal?: AbortSignal): object;
}

/** Creates a recognizer, which is an `STT` of any LiveKit plugin, for one session. */
export type Listen = (session: VoiceSession) => RecognizerPlugin | Promise<RecognizerPlugin>;

/** Creates a voice, which is a `TTS` of any LiveKit plugin, for one session. */
export type Speak = (session: VoiceSession) => VoicePlugin | Promise<VoicePlugin>;

/** One function, or a list of functions: if a plugin fails, the session continues with the plugin of the next one. */
export type OneOrMore<Create> = Create | readonly Create[];

const creators = <Create>() =>
  z
    .custom<OneOrMore<Create>>((value) => {
      const each = [value].flat();
      return each.length > 0 && each.every((create) => typeof create === "function");
    }, "expected a function that returns a plugin, or a list of such functions")
    .exactOptional();

/** The fields of `voice` that select plugins, in parley.config.ts and in an agent's file (docs/voice.md). */
export const speechPluginFields = {
  /** Creates the session's recognizer. Overrides STT. */
  listen: creators<Listen>(),
  /** Creates the session's voice. Overrides TTS. */
  speak: creators<Speak>(),
};
