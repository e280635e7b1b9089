import { defineAgent, type JobContext, llm, voice } from "@livekit/agents";
import * as openai from "@livekit/agents-plugin-openai";
import { z } from "zod";
import { serve } from "./serve.ts";

/**
 * A text agent with one tool. It forwards the tool's calls to the participant by RPC. Follows LiveKit's pages on
 * text-only sessions and on forwarding tools to the frontend.
 */
export default defineAgent({
  entry: async (ctx: JobContext) => {
    const lookUp = llm.tool({
      description: "Looks something up on the participant's device.",
      parameters: z.object({ id: z.string() }),
      execute: async ({ id }) => {
        const participant = [...ctx.room.remoteParticipants.values()][0];
        if (!participant) throw new llm.ToolError("Nobody is there");
        return await ctx.room.localParticipant?.performRpc({
          destinationIdentity: participant.identity,
          method: "lookUp",
          payload: JSON.stringify({ id }),
          responseTimeout: 10_000,
        });
      },
    });
    const session = new voice.AgentSession({ llm: new openai.LLM({ model: "gpt-4.1" }) });
    await session.start({
      agent: new voice.Agent({
        instructions: "You are a helpful assistant. Answer in short sentences.",
        tools: { look_up: lookUp },
      }),
      room: ctx.room,
      inputOptions: { audioEnabled: false },
      outputOptions: { audioEnabled: false },
    });
    await ctx.connect();
  },
});

serve(import.meta.url);
