import type { stt, tts } from "@livekit/agents";
import { z } from "zod";
import type { AgentSession } from "../agent-session.ts";

/** The session, as passed to `voice.listen` and `voice.speak`. */
export interface VoiceSession extends AgentSession {
  /** The language of the first of `participants`, if the participant's client has sent it by now. */
  readonly language: string | undefined;
  /** The attributes of the first of `participants`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Creates a recognizer, which is an `STT` of any LiveKit plugin, for one session. */
export type Listen = (session: VoiceSession) => stt.STT | Promise<stt.STT>;

/** Creates a voice, which is a `TTS` of any LiveKit plugin, for one session. */
export type Speak = (session: VoiceSession) => tts.TTS | Promise<tts.TTS>;

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
