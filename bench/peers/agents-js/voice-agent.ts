import { cli, defineAgent, type JobContext, ServerOptions, voice } from "@livekit/agents";
import * as openai from "@livekit/agents-plugin-openai";
import { fileURLToPath } from "node:url";

/** A voice agent as LiveKit's voice quickstart has it, which takes a silence for the end of a turn. */
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

cli.runApp(
  new ServerOptions({
    agent: fileURLToPath(import.meta.url),
    port: Number(process.env["AGENT_PORT"]),
    // By CPU it would call itself full, and rooms would get no agent, whenever the machine is busy.
    loadFunc: async () => 0,
  }),
);
