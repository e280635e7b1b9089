import { defineAgent, type JobContext, voice } from "@livekit/agents";
import * as openai from "@livekit/agents-plugin-openai";
import { serve } from "./serve.ts";

/** A voice agent that follows LiveKit's voice quickstart. Silence ends a turn. */
export default defineAgent({
  entry: async (ctx: JobContext) => {
    const session = new voice.AgentSession({
      stt: new openai.STT({ model: "whisper-1", useRealtime: false }),
      llm: new openai.LLM({ model: "gpt-4.1" }),
      tts: new openai.TTS(),
      turnHandling: { turnDetection: "vad" },
    });
    await session.start({
      agent: new voice.Agent({ instructions: "You are a helpful assistant. Answer in short sentences." }),
      room: ctx.room,
    });
    await ctx.connect();
  },
});

serve(import.meta.url);
